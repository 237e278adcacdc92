// The notice API as a provider of the sandbox: its operations, and what the control API may do with notices and batches.
import { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { SandboxProvider, Operation } from "../../exchange/operation.js";
import { keeping } from "../../exchange/kept.js";
import { authenticate, refuserOf } from "../evi/refuser.js";
import type { Refuser } from "../evi/refuser.js";
import { attachmentOperations } from "./attachment-operations.js";
import { batchContext, batchOperations } from "./batch-operations.js";
import { BatchRun } from "./batch-run.js";
import { Batches } from "./batch.js";
import { itemOperations } from "./item-operations.js";
import { NoticeService, readNoticeMagic } from "./notice-service.js";
import type { NoticeMagic } from "./notice-service.js";
import { recipientOperations } from "./recipient-operations.js";
import { jsonAnswer } from "../../exchange/answer.js";
import { submitOperation } from "../evi/submit.js";
import { impossibleEnding } from "./lifecycle.js";
import { checkNotice, lookupKeysOf } from "./submission.js";
import type { CheckedNotice } from "./submission.js";
import type { SeededIds } from "../../engine/seeded.js";

/** Repeated, each leaves the same state behind. */
const harmless = [
  "affidavitRequest",
  "deleteBatch",
  "deleteRecipients",
  "deleteBatchAttachment",
  "deleteBatchAttachments",
];

export function eviNotice(parts: SandboxParts): SandboxProvider {
  const service = new NoticeService(parts);
  const tokens = new IdempotencyTokens();
  const batches = new Batches(parts);
  const run = new BatchRun(parts, batches, service);
  const refusals = noticeRefuser(parts.ids);
  const context = batchContext(parts, batches, run, refusals);
  for (const operation of harmless) parts.ledger.allowRepeats(`evi-notice.${operation}`);

  return {
    name: "evi-notice",
    operations: [
      noticeSubmit(parts, service, tokens, refusals),
      ...itemOperations(service, tokens, refusals),
      ...batchOperations(context),
      ...recipientOperations(context),
      ...attachmentOperations(context),
    ],
    hasCallbacks: true,
    // P2 §4.2, §9: the older form is still accepted.
    alsoAt: (path) => [`/api${path}`],
    authenticate: (arrival) => authenticate(parts.accounts, arrival, refusals.refuse),
    refuse: (status, code, message) => refusals.refuse(status, String(code), message),
    ...service.control(),
    kept: keeping({ notices: keeping({ items: service.items, tokens }), batches }),
  };
}

const noticeSubmit = (
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

// Error bodies of the notice API (P2 §7.2): problem documents. The specification lists no types; these are the sandbox's own.

const titles: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
};

function noticeRefuser(ids: SeededIds): Refuser {
  const refuse: Refuser["refuse"] = (status, code, detail) => ({
    status,
    headers: { "content-type": "application/problem+json" },
    body: Buffer.from(
      JSON.stringify({
        Status: status,
        Type: `https://problems.invalid/${code}`,
        Title: titles[status] ?? "Error",
        Detail: detail,
        RequestId: ids.uuid("evi-notice.problem"),
      }),
    ),
  });
  // P2 §7.2 shows no list of fields: the detail names each.
  return refuserOf(refuse, (errors) =>
    refuse(
      400,
      errors[0]?.errorCode ?? "InvalidRequest",
      errors.map(({ message }) => message).join("; ") || "invalid request",
    ),
  );
}
