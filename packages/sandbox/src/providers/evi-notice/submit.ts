// POST Submit of the notice API (P2 §4.2).
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import { jsonAnswer } from "../../exchange/answer.js";
import type { Operation } from "../../exchange/operation.js";
import type { Refuser } from "../evi/refuser.js";
import { submitOperation } from "../evi/submit.js";
import { impossibleEnding } from "./lifecycle.js";
import { readNoticeMagic, type NoticeMagic, type NoticeService } from "./notice-service.js";
import { checkNotice, lookupKeysOf, type CheckedNotice } from "./submission.js";

export const noticeSubmit = (
  { accounts, documents, ids, options }: SandboxParts,
  service: NoticeService,
  tokens: IdempotencyTokens,
  refuser: Refuser,
): Operation =>
  submitOperation<CheckedNotice, NoticeMagic>(service.parts, tokens, refuser, {
    provider: "evi-notice",
    route: "POST /v2/EviNotice/Submit",
    magicMember: "RecipientDisplayName",
    contentMember: "Body",
    subject({ LookupKey }) {
      const lookupKeys = lookupKeysOf(typeof LookupKey === "string" ? LookupKey : undefined);
      return { intent: lookupKeys[0] ?? null, lookupKeys };
    },
    magicOf: (body) => readNoticeMagic(body["RecipientDisplayName"]),
    check: (body, account) => checkNotice(body, account, options.maxDocumentBytes),
    impossible: (checked, { ending, modifiers }) =>
      impossibleEnding({ ...checked, ending, modifiers }),
    accept({ attachments, body, ...rest }, { account, at }, origin) {
      if (account.balance !== undefined) {
        if (account.balance < 1)
          return refuser.refuse(403, "InsufficientBalance", "the account has no credit balance");
        accounts.change(account.username, { balance: account.balance - 1 });
      }
      const notice = {
        ...rest,
        bodySha256: documents.put(Buffer.from(body)),
        attachments: attachments.map(({ bytes, ...more }) => ({
          ...more,
          id: ids.uuid("evi-notice.attachment"),
          size: bytes.length,
          sha256: documents.put(bytes),
        })),
      };
      const item = service.accept(notice, origin);
      service.effect("submit", item, account.username, at);
      return jsonAnswer(200, { Id: item.id });
    },
  });
