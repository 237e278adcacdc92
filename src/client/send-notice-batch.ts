// The handle of `sendNoticeBatch`. What it reads of its notices is in heartbeats, which are no events.
import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { cancelBatch, requestBatchAffidavit } from "../contracts/send-notice-batch/messages.js";
import type {
  BatchAffidavitAnswer,
  BatchCancelAnswer,
} from "../contracts/send-notice-batch/messages.js";
import type {
  BatchAffidavitRequest,
  SendNoticeBatchResult,
} from "../contracts/send-notice-batch/contract.js";
import type { ProcessStatus } from "../contracts/shared/status.js";
import { ProcessHandle } from "./handle.js";
import type { Stated } from "./handle.js";
import { newestReadIn, withNewestRead } from "./newest-read.js";

/** The time between two looks, because heartbeats end no wait. */
const WATCH_MS = 2_000;

export class NoticeBatchHandle extends ProcessHandle<SendNoticeBatchResult> {
  /** Deletes the batch before its start, so that no notice goes out (P2 §4.3 delete). The same `updateId` is one cancellation. */
  cancel(updateId?: string, stated: Stated = {}): Promise<BatchCancelAnswer> {
    return this.update(cancelBatch, [stated], updateId);
  }

  /** Requests an affidavit on demand of one notice of the batch (P2 §4.2). The same `updateId` is one request. */
  requestAffidavit(asked: BatchAffidavitRequest, updateId?: string): Promise<BatchAffidavitAnswer> {
    return this.update(requestBatchAffidavit, [asked], updateId);
  }

  protected override get watchLimitMs(): number {
    return WATCH_MS;
  }

  protected override async withNewestRead(
    shown: ProcessStatus,
    client: Client,
    described: WorkflowExecutionDescription,
  ): Promise<ProcessStatus> {
    return withNewestRead(shown, await newestReadIn(client, described));
  }
}
