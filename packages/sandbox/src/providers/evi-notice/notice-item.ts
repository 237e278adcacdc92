// A notice as the simulated provider keeps it. What the notices of a batch have in common stands in one object for all.
import type { EviItem } from "../evi/item.js";
import type { AffidavitKind } from "./lifecycle.js";
import type { NoticeState } from "./lifecycle.js";

export interface NoticeAttachment {
  id: string;
  fileName: string;
  mimeType: string;
  size: number;
  sha256: string;
  displayName?: string | undefined;
  contentId?: string | undefined;
  contentEncoding?: string | undefined;
  isOnAffidavits: boolean;
}

export interface NoticeItem extends EviItem<NoticeState, AffidavitKind> {
  subject: string;
  bodySha256: string;
  from: string;
  to: string;
  displayName?: string;
  affidavitKinds: readonly AffidavitKind[];
  attachments: readonly NoticeAttachment[];
  refusedAt?: number;
  onDemandRequests: number;
  /** The batch that it comes from. */
  batchId?: string;
}
