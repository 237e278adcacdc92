// P2 §2.6, §3.2. No zod: the workflow imports this file.

/** In the order of P2 §3.2. `Failed` is recoverable; only the outcome `failed`, at `Closed`, is final. */
export const noticeStates = [
  "Draft",
  "Submitted",
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Received",
  "Read",
  "Replied",
  "Closed",
  "Failed",
] as const;

/** The only end (P2 §3.2); a callback may report it, and only a query confirms it (P2 §6.4). */
export const noticeEndStates: ReadonlySet<string> = new Set(["Closed"]);

/** In camelCase. `refused`: not opened; `rejected`: opened, and the commitment was answered with no. */
export const noticeOutcomes = [
  "none",
  "certified",
  "sent",
  "delivered",
  "received",
  "read",
  "accepted",
  "rejected",
  "failed",
  "cancelled",
  "refused",
] as const;

/** P2 §2.6. */
export const noticeAffidavitKinds = [
  "Submitted",
  "SubmittedAdvanced",
  "Dispatched",
  "TransmissionResult",
  "DeliveryResult",
  "Received",
  "Read",
  "Committed",
  "CommittedAdvanced",
  "Refused",
  "Closed",
  "ClosedAdvanced",
  "Event",
  "Complete",
  "CompleteAdvanced",
  "OnDemand",
  "ContentDownload",
  "Failed",
] as const;
