// What the activities of a batch of notices work with.
import { activityInfo } from "@temporalio/activity";
import type { BatchItems } from "../../batch/items/items.js";
import type { ArchiveParts } from "../../batch/items/parts.js";
import type { BatchSettings } from "../../contracts/send-notice-batch/contract.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import type { DocumentKind } from "../../journal/ownership.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type {
  Batch,
  BatchAssumptions,
  BatchRecipient,
  ListedAttachment,
} from "../../providers/evi-notice/client.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Operation } from "../../providers/registry.js";
import { whenVisible } from "../runtime/when-visible.js";
import { provider } from "../evi-notice/context.js";
import type { NoticeAccount } from "../evi-notice/context.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";
import { Pace } from "./pace.js";

/** It takes no longer than any other call: a killed worker's upload is not waited for longer than theirs. */
const SMALL_UPLOAD_BYTES = 1_000_000;

export interface BatchAccount extends NoticeAccount {
  /** Of one upload. */
  uploadTimeoutMs: number;
  batch: BatchAssumptions;
}

export interface BatchDependencies extends ProviderDependencies<BatchAccount> {
  defaults: { sendNoticeBatch: BatchSettings };
  items: BatchItems;
  parts: ArchiveParts;
}

/** A document that the batch makes; `parts` tell it from the others. */
export interface MadeDocument {
  kind: DocumentKind;
  parts: string[];
}

/** `paces`: by the account's name; of one worker. */
type Dependencies = BatchDependencies & { paces: Map<string, Pace> };

export class BatchContext extends ProviderContext<typeof provider, Dependencies> {
  /** Of the account. */
  get pace(): Pace {
    const { paces } = this.deps;
    const { name, batch } = this.account;
    const pace = paces.get(name) ?? new Pace(batch.readsPerSecond);
    paces.set(name, pace);
    return pace;
  }

  /** Its id, and its owner, which is noted before it is stored. */
  async ownDocument({ kind, parts }: MadeDocument) {
    const { namespace, workflowId } = this.process;
    const id = derivedDocumentId(namespace, workflowId, kind, ...parts);
    await this.deps.journal.own(this.process, [{ id, kind }]);
    return { id, process: this.process };
  }

  /** How long a call may take that sends so many bytes. */
  uploadMs(bytes: number): number {
    const { timeoutMs, uploadTimeoutMs } = this.account;
    return bytes > SMALL_UPLOAD_BYTES ? Math.max(timeoutMs, uploadTimeoutMs) : timeoutMs;
  }

  /** The account for such a call. */
  uploadAccount(bytes: number): BatchAccount {
    return { ...this.account, timeoutMs: this.uploadMs(bytes) };
  }

  findBatch(batchId: string): Promise<Batch | undefined> {
    const getting = this.throughCircuit("getBatch", (signal) =>
      eviNotice.getBatch(this.account, { batchId }, signal),
    );
    return whenVisible(getting, undefined);
  }

  /** Page by page. Throws `notVisibleYet` where the provider shows no such batch. */
  async *recipients(
    batchId: string,
    limit = this.account.batch.recipientsPage,
  ): AsyncGenerator<BatchRecipient[]> {
    let cursor: string | undefined;
    do {
      const asked = { batchId, limit, cursor };
      const page = await this.throughCircuit("queryRecipients", (signal) =>
        eviNotice.queryRecipients(this.account, asked, signal),
      );
      yield page.results;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  attachments(batchId: string): Promise<ListedAttachment[]> {
    return this.throughCircuit("listBatchAttachments", (signal) =>
      eviNotice.listBatchAttachments(this.account, { batchId }, signal),
    );
  }

  /** What the provider shows is not what was sent. */
  problem(operation: Operation<typeof provider>, problem: string): ProviderError {
    return new ProviderError({ kind: "protocol", provider, operation, effect: "none", problem });
  }

  /** A call that is not made, as if the provider had refused it. */
  refusal(operation: Operation<typeof provider>, problem: string): ProviderError {
    return new ProviderError({
      kind: "invalidRequest",
      provider,
      operation,
      effect: "none",
      problem,
    });
  }

  /** What was just sent may not be visible at once; what stays invisible is a problem. */
  notShown(operation: Operation<typeof provider>, problem: string): ProviderError {
    const kind = this.isNew ? "notVisibleYet" : "protocol";
    return new ProviderError({ kind, provider, operation, effect: "none", problem });
  }

  /** Whether what the step before has sent may still be invisible. */
  get isNew(): boolean {
    return Date.now() - activityInfo().scheduledTimestampMs < this.deps.invisibleForMs;
  }
}

/** Which batch an activity is about. */
export interface OfBatch {
  account: string;
  batchId: string;
}
