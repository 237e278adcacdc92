// The activities of a batch of notices work with an account, with the pace of its reads, and with the documents that the batch makes.
import { activityInfo, cancellationSignal } from "@temporalio/activity";
import type { BatchItems } from "../../batch/items/items.js";
import type { ArchiveParts } from "../../batch/items/parts.js";
import { derivedDocumentId, uriOf } from "../../documents/document-id.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { Pieces } from "../../documents/store.js";
import { GoesOnLater } from "../runtime/failure.js";
import type { DocumentKind } from "../../journal/ownership.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type {
  Batch,
  Cursor,
  EviNoticeAccount,
  BatchRecipient,
  ListedAttachment,
  BatchSettings as BatchFields,
} from "../../providers/evi-notice/client.js";
import type { ProviderError } from "../../providers/errors/provider-error.js";
import type { Operation } from "../../providers/registry.js";
import { whenVisible } from "../runtime/polling.js";
import type { provider } from "../evi-notice/context.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies, Place } from "../runtime/provider-context.js";
import type {
  BatchRecipients,
  BatchSettings,
  SendNoticeBatchInput,
} from "../../contracts/send-notice-batch/contract.js";
import type { NoticeAttachment } from "../../contracts/send-notice/contract.js";
import pLimit from "p-limit";
import { setTimeout as delay } from "node:timers/promises";

/** It takes no longer than any other call: a killed worker's upload is not waited for longer than theirs. */
const SMALL_UPLOAD_BYTES = 1_000_000;

/** So many times as many recipients as were sent are no list. A late upload may have doubled them. */
const MOST_TIMES_SHOWN = 10;

export interface BatchDependencies extends ProviderDependencies<typeof provider> {
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
    await this.deps.journal.addOwner(this.process, [{ id, kind }]);
    return { id, process: this.process };
  }

  /** The document as it is stored, else as `make` makes it: a retry may make another one, since more is known by then. */
  async storeOnce(
    made: MadeDocument,
    mediaType: string,
    make: () => Pieces,
  ): Promise<DocumentReference> {
    const { documents } = this.deps;
    const owned = await this.ownDocument(made);
    const uri = uriOf(owned.id);
    const pieces = (await documents.exists(uri)) ? documents.openRead({ uri }) : make();
    return documents.putStream(pieces, mediaType, owned);
  }

  /** How long a call may take that sends so many bytes. */
  uploadMs(bytes: number): number {
    const { timeoutMs, uploadTimeoutMs } = this.account;
    return bytes > SMALL_UPLOAD_BYTES ? Math.max(timeoutMs, uploadTimeoutMs) : timeoutMs;
  }

  /** The account for such a call. */
  uploadAccount(bytes: number): EviNoticeAccount {
    return { ...this.account, timeoutMs: this.uploadMs(bytes) };
  }

  findBatch(batchId: string): Promise<Batch | undefined> {
    return whenVisible(this.ask("getBatch", eviNotice.getBatch, { batchId }));
  }

  /** Page by page. Throws `notVisibleYet` where the provider shows no such batch. `sent`: how many recipients it was given. */
  async *recipients(
    batchId: string,
    sent: number,
    limit = this.account.batch.recipientsPage,
  ): AsyncGenerator<BatchRecipient[]> {
    let cursor: Cursor | undefined;
    let shown = 0;
    do {
      const asked = { batchId, limit, cursor };
      const page = await this.ask("queryRecipients", eviNotice.queryRecipients, asked);
      shown += page.results.length;
      this.checkEnds(shown, sent);
      yield page.results;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** A cursor that leads back to a page before would be followed for ever. */
  checkEnds(shown: number, sent: number): void {
    if (shown > MOST_TIMES_SHOWN * Math.max(1, sent))
      throw this.problem("queryRecipients", "shows recipients again and again, without an end");
  }

  attachments(batchId: string): Promise<ListedAttachment[]> {
    return this.ask("listBatchAttachments", eviNotice.listBatchAttachments, { batchId });
  }

  /** Something that was just sent may not be visible at once. */
  notShown(operation: Operation<typeof provider>, problem: string): ProviderError {
    return this.problem(operation, problem, "notVisibleYet");
  }

  /** Whether what the step before has sent, or what begins at `due`, may still be invisible. */
  isNew(due?: string): boolean {
    const dueMs = due === undefined ? 0 : Date.parse(due);
    const fromMs = Math.max(activityInfo().scheduledTimestampMs, dueMs);
    return Date.now() - fromMs < this.deps.invisibleForMs;
  }
}

const LONGEST_ATTEMPT_MS = 20 * 60_000;

/** To call before each piece of work: throws `GoesOnLater` once the attempt is long enough, and the next one continues. */
export function attemptLimit(): () => void {
  const began = performance.now();
  return () => {
    if (performance.now() - began > LONGEST_ATTEMPT_MS) throw new GoesOnLater(1);
  };
}

const MOVED_SHARE = 0.04;

/** By how much a total must differ: 4 % of the recipients, so that a batch of any size has as many answers. */
export function leastMove(recipients: number): number {
  return Math.max(1, MOVED_SHARE * recipients);
}

export interface OfBatch {
  account: string;
  batchId: string;
}

/** The list as it goes to the provider. */
export interface SentList {
  document: DocumentReference;
  recipients: number;
  /** `src/batch/recipients/preflight.ts` makes it. */
  addressDigest: string;
  /** The list holds answers to challenges, which are secrets. */
  hasChallenges: boolean;
  /** No two recipients of the list may share it. */
  unique: NonNullable<SendNoticeBatchInput["uniqueRecipients"]>;
  /** It is part of the keys of `src/batch/recipients/own-key.ts`; absent where the recipients have no lookup keys of ours. */
  keyTag?: string;
}

export type BatchAttachment = NoticeAttachment & { document: DocumentReference };

/** What every later activity of the batch needs. All of it is small: bodies, lists and attachments are documents. */
export interface BatchPlan extends Place {
  /** Fixed for the run. */
  settings: BatchSettings;
  /** Seconds from the start, or from `scheduledDate`. */
  deadlineSeconds: number;
  list: SentList;
  /** As the status and the result show it. */
  check: BatchRecipients;
  /** The caller's list, from which the report names what was left out. */
  given: DocumentReference;
  description?: string;
  /** HTML. */
  body: DocumentReference;
  attachments: BatchAttachment[];
  /** Holds what the caller set, and the filter of the callbacks; the address of the callbacks comes later. */
  fields: BatchFields;
  scheduledDate?: string;
  /** How many recipients may fail before a person decides (P2 §2.8 FailedCount). */
  allowedFailures: number;
}

const SIDE_BY_SIDE = 8;

/**
 * How fast the notices of a batch are read, as a token bucket that holds the tokens of one second. The worker's own limit counts activities,
 * and one activity reads all notices.
 */
export class Pace {
  readonly #gapMs: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  /** When the next call may begin. */
  #next = -Infinity;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#gapMs = 1_000 / perSecond;
    this.#burstMs = 1_000 - this.#gapMs;
    this.#now = now;
  }

  /** For how long the caller has to wait. */
  take(): number {
    const now = this.#now();
    const at = Math.max(this.#next, now - this.#burstMs);
    this.#next = at + this.#gapMs;
    return Math.max(0, at - now);
  }

  /** Calls `work` for each item; the first error ends the wait, and begins no further one. */
  async all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const limit = pLimit(SIDE_BY_SIDE);
    const signal = cancellationSignal();
    const paced = async (item: T) => {
      const waitMs = this.take();
      if (waitMs > 0) await delay(waitMs, undefined, { signal });
      return work(item);
    };
    try {
      return await Promise.all(items.map((item) => limit(paced, item)));
    } finally {
      limit.clearQueue();
    }
  }
}
