// Limits what one callback address may bring, and for how long (docs/decisions/0020). The configuration offers it, a database function
// counts (src/postgres/migrations/0001-tables.ts), and after its refusal the receiver refuses by itself for a while.

export const defaultQuota = {
  /** How many rows a process receives; more are `surplus`. */
  eventsPerProcess: 200,
  rowsPerAddress: 2_000,
  bytesPerAddress: 8_000_000,
  /** An account's address serves all processes of the account and does not expire. */
  accountRowsPerDay: 50_000,
  /** The size of this number of largest bodies, so that a few large ones do not use up a day. */
  accountBytesPerDay: 830_000_000,
  /** The longest process that an input may ask for, 400 days and an affidavit window of 400 days, and a margin. */
  addressDays: 830,
};
export type Quota = typeof defaultQuota;

/** The largest values. The database holds to them as well, whatever its caller says. */
export const maxQuota = {
  /** As many as a process keeps (src/workflows/runtime/event-log.ts). */
  eventsPerProcess: 1_000,
  rowsPerAddress: 10_000,
  bytesPerAddress: 100_000_000,
  accountRowsPerDay: 500_000,
  accountBytesPerDay: 1_000_000_000,
} as const satisfies Partial<Quota>;
