// A batch as the simulated provider keeps it, and the collection of all of them (P2 §2.8, §3.3).
import type { SandboxParts } from "../../engine/parts.js";
import { Shelf } from "../../exchange/kept.js";
import type { NoticeAttachment } from "./notice-service.js";
import { RecipientList } from "./recipient-list.js";

export const batchStates = [
  "Draft",
  "Submitted",
  "Scheduled",
  "Processing",
  "Processed",
  "Invalid",
  "Failed",
] as const;
export type BatchState = (typeof batchStates)[number];

export interface Batch {
  id: string;
  account: string;
  site: string;
  /** The ledger counts by it. */
  description: string;
  state: BatchState;
  createdAt: number;
  updatedAt: number;
  startedAt?: number;
  /** What PATCH has set, in the wire's spelling. */
  settings: Record<string, unknown>;
  bodySha256?: string;
  /** The body is queued until then. */
  bodyReadyAt?: number;
  /** The digests of the lists, in order: the stored documents have their bytes. */
  lists: string[];
  attachments: NoticeAttachment[];
  sent: number;
  failed: number;
  /** By recipient: the id of the notice, empty where there is none. */
  noticeIds: string[];
}

export class Batches extends Shelf<Batch> {
  readonly #parts: SandboxParts;
  /** The lists that were read, by digest. */
  readonly #lists = new Map<string, RecipientList>();

  constructor(parts: SandboxParts) {
    super("evi-notice", ({ description }) => ({ intent: batchIntent(description) }), shown);
    this.#parts = parts;
  }

  override get(id: unknown): Batch | undefined {
    return super.get(String(id).toLowerCase());
  }

  keep(list: RecipientList): string {
    const sha256 = this.#parts.documents.put(list.bytes);
    // The same bytes again stay in memory once.
    if (!this.#lists.has(sha256)) this.#lists.set(sha256, list);
    return sha256;
  }

  listsOf({ lists }: Batch): RecipientList[] {
    return lists.map((sha256) => {
      const known = this.#lists.get(sha256);
      if (known) return known;
      const list = new RecipientList(this.#parts.documents.get(sha256));
      this.#lists.set(sha256, list);
      return list;
    });
  }

  sizeOf(batch: Batch): number {
    return this.listsOf(batch).reduce((sum, { size }) => sum + size, 0);
  }

  override clear(): void {
    super.clear();
    this.#lists.clear();
  }
}

/** A client may put a token of its own, in brackets, behind the caller's words. */
export function batchIntent(description: string): string {
  return description.replace(/ \[[^[\]]*\]$/, "");
}

function shown({ settings, noticeIds, ...rest }: Batch): object {
  // The callback address is a capability.
  const uncritical = Object.entries(settings).filter(
    ([name]) => !name.endsWith("PushNotificationUrl"),
  );
  return { ...rest, settings: Object.fromEntries(uncritical), notices: noticeIds.length };
}
