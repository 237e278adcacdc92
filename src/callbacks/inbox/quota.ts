// The quota and the lifetime of a callback address (docs/decisions/0020). A database function counts
// (postgres/migrations/0001-tables.ts); after its refusal, the receiver refuses by itself for a while (admission.ts).

export interface Quota {
  /** How many rows a process receives; more are `surplus`. */
  eventsPerProcess: number;
  rowsPerAddress: number;
  bytesPerAddress: number;
  /** An account's address serves all processes of the account and does not expire. */
  accountRowsPerDay: number;
  /** The default is the size of this number of largest bodies (receiver.ts), so that a few large ones do not use up a day. */
  accountBytesPerDay: number;
  addressDays: number;
}

export const defaultQuota: Quota = {
  eventsPerProcess: 200,
  rowsPerAddress: 2_000,
  bytesPerAddress: 8_000_000,
  accountRowsPerDay: 50_000,
  accountBytesPerDay: 830_000_000,
  addressDays: 830,
};

/** The result of a callback; `full`: it was not stored. */
export type Verdict = "stored" | "duplicate" | "full";
