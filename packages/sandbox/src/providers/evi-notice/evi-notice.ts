// The notice API as a provider of the sandbox: its operations, and what the control API may do with notices and batches.
import { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import { authenticate } from "../evi/authenticate.js";
import { itemControlOf } from "../evi/item-control.js";
import { attachmentOperations } from "./attachment-operations.js";
import { batchContext, batchOperations } from "./batch-operations.js";
import { BatchRun } from "./batch-run.js";
import { batchSummary, Batches, type Batch } from "./batch.js";
import { itemOperations } from "./item-operations.js";
import { states } from "./lifecycle.js";
import { NoticeService } from "./notice-service.js";
import { recipientOperations } from "./recipient-operations.js";
import { refuser } from "./refusal.js";
import { submitOperation } from "./submit.js";

interface NoticeState {
  notices: unknown;
  batches: Batch[];
}

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
  const refusals = refuser(parts.ids);
  const context = batchContext(parts, batches, run, refusals);
  const itemControl = itemControlOf("evi-notice", service, tokens, states);
  for (const operation of harmless) parts.ledger.allowRepeats(`evi-notice.${operation}`);

  return {
    name: "evi-notice",
    operations: [
      submitOperation(parts, service, tokens, refusals),
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
    ...itemControl,
    *items() {
      yield* itemControl.items();
      for (const batch of batches.all()) yield batchSummary(batch);
    },
    item(id) {
      const batch = batches.get(id);
      if (!batch) return itemControl.item(id);
      const { settings, noticeIds, ...rest } = batch;
      // The callback address is a capability.
      const shown = Object.fromEntries(
        Object.entries(settings).filter(([name]) => !name.endsWith("PushNotificationUrl")),
      );
      return { ...rest, ...batchSummary(batch), settings: shown, notices: noticeIds.length };
    },
    save: (): NoticeState => ({ notices: itemControl.save(), batches: batches.all() }),
    load(state) {
      const saved = state as NoticeState;
      itemControl.load(saved.notices);
      for (const batch of saved.batches) batches.add(batch);
    },
    clear() {
      itemControl.clear();
      batches.clear();
    },
  };
}
