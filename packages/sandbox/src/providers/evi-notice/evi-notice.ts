// The notice API as a provider of the sandbox: its operations, and what the control API may do with notices and batches.
import { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import { keeping } from "../../exchange/kept.js";
import { authenticate } from "../evi/refuser.js";
import { attachmentOperations } from "./attachment-operations.js";
import { batchContext, batchOperations } from "./batch-operations.js";
import { BatchRun } from "./batch-run.js";
import { Batches } from "./batch.js";
import { itemOperations } from "./item-operations.js";
import { NoticeService } from "./notice-service.js";
import { recipientOperations } from "./recipient-operations.js";
import { noticeRefuser } from "./refusal.js";
import { noticeSubmit } from "./submit.js";

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
  const tokens = new IdempotencyTokens(parts.options.idempotencyLifetimeMs);
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
    alsoAt: (path) => `/api${path}`,
    authenticate: (arrival) => authenticate(parts.accounts, arrival, refusals.refuse),
    refuse: (status, code, message) => refusals.refuse(status, String(code), message),
    ...service.control(),
    kept: keeping({ notices: keeping({ items: service.items, tokens }), batches }),
  };
}
