// POST Submit (P2 §4.2): checks, idempotency token, and the notice that comes of it.
import type { FaultRule } from "../../engine/faults.js";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import { keyedBy } from "../evi/keyed-submit.js";
import { impossibleEnding } from "./lifecycle.js";
import { magicKeyOf, readNoticeMagic } from "./magic.js";
import type { NoticeService } from "./notice-service.js";
import type { Refuser } from "./refusal.js";
import { checkNotice, lookupKeysOf } from "./submission.js";

function describe({ body: given }: Arrival): Description {
  const body = fieldsOf(given);
  const lookupKey = typeof body["LookupKey"] === "string" ? body["LookupKey"] : undefined;
  const lookupKeys = lookupKeysOf(lookupKey);
  const magic = readNoticeMagic(body["RecipientDisplayName"]);
  return {
    intent: lookupKeys[0] ?? null,
    lookupKeys,
    ...(magic && { magicKey: magicKeyOf(body), magicFaults: magic.faults }),
  };
}

export function submitOperation(
  parts: SandboxParts,
  service: NoticeService,
  tokens: IdempotencyTokens,
  { refuse, badRequest, badField }: Refuser,
): Operation {
  function perform(call: Call, faults: FaultRule[]): Answer {
    const { account, body } = call;
    if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
    const checked = checkNotice(body, account, parts.options.maxDocumentBytes);
    for (const field of checked.unknownFields) {
      parts.ledger.violate(call, "unknownField", describe(call).intent, field);
    }
    const { notice } = checked;
    if (!notice) return badRequest(checked.errors);
    const magic = readNoticeMagic(notice.displayName);
    if (magic && magic.unknown.length > 0) {
      const words = magic.unknown.join(", ");
      return badField("RecipientDisplayName", "SandboxMagic", `unknown magic value: ${words}`);
    }
    const ending = magic?.ending;
    const why = impossibleEnding({ ...notice, ending, modifiers: magic?.modifiers ?? [] });
    if (why) return badField("RecipientDisplayName", "SandboxMagic", `${ending}: ${why}`);
    if (account.balance !== undefined) {
      if (account.balance < 1)
        return refuse(403, "InsufficientBalance", "the account has no credit balance");
      parts.accounts.change(account.username, { balance: account.balance - 1 });
    }
    const { attachments, body: html, ...rest } = notice;
    const magicKey = magic && magicKeyOf(body);
    const item = service.accept(
      {
        ...rest,
        bodySha256: parts.documents.put(Buffer.from(html)),
        attachments: attachments.map(({ bytes, ...more }) => ({
          ...more,
          id: parts.ids.uuid("evi-notice.attachment"),
          size: bytes.length,
          sha256: parts.documents.put(bytes),
        })),
      },
      account,
      call.at,
      { magic, magicKey, faults },
    );
    service.effect("submit", item, account.username, call.at);
    return jsonAnswer(200, { Id: item.id });
  }

  return {
    name: "submit",
    method: "POST",
    path: "/v2/EviNotice/Submit",
    describe,
    ...keyedBy(tokens, parts),
    perform,
  };
}
