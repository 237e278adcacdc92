// P2 §3.1. No zod: the workflow imports this file.

/** In the order of P2 §3.1. */
export const postalStates = [
  "Draft",
  "Submitted",
  "Processed",
  "Dispatched",
  "Issued",
  "Sent",
  "Failed",
  "Undelivered",
  "Missing",
  "Delivered",
  "Disposed",
  "Cancelled",
  "Closed",
] as const;

/** The ends. A callback may report one; only a query confirms it (P2 §3.1, §6.2). */
export const endStates: ReadonlySet<string> = new Set(["Closed", "Cancelled", "Disposed"]);

/** In camelCase. */
export const postalOutcomes = [
  "none",
  "dispatched",
  "sent",
  "declined",
  "rejected",
  "acknowledged",
  "hindered",
  "undelivered",
  "failed",
  "delivered",
  "disposed",
  "cancelled",
  "expired",
] as const;
