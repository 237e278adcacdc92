// The quota and the lifetime of a callback address (docs/decisions/0020). A database function counts
// (postgres/migrations/0007-callback-quota.ts); after its refusal, the receiver refuses by itself for a while.

import type { GenuineAddress } from "../address.js";

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

/** The result of a callback; `full` and `expired` were not stored. */
export type Verdict = "stored" | "duplicate" | "full" | "expired";
export type Refused = Extract<Verdict, "full" | "expired">;

const MAX_KEPT = 10_000;
const KEPT_MS = 60_000;

/** Recently refused addresses, so that a flood does not query the database for each callback. */
export class RefusedAddresses {
  readonly #known = new Map<string, { verdict: Refused; until: number }>();

  add(address: string, verdict: Refused): void {
    this.#known.delete(address);
    this.#known.set(address, { verdict, until: performance.now() + KEPT_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KEPT && oldest !== undefined) this.#known.delete(oldest);
  }

  verdictOn(address: string): Refused | undefined {
    const known = this.#known.get(address);
    if (known === undefined || known.until > performance.now()) return known?.verdict;
    this.#known.delete(address);
    return undefined;
  }
}

/** The address of a batch brings what others bring in hundreds of addresses: it may take nearly all places. */
const BATCH_SHARE = 0.9;

/** How many callbacks of each address are being received or wait for their commit. */
export class AddressSlots {
  readonly #most: number;
  readonly #mostOfBatch: number;
  readonly #taken = new Map<string, number>();

  /** `share`: of all places, for one address. */
  constructor(places: number, share: number) {
    this.#most = Math.ceil(places * share);
    this.#mostOfBatch = Math.ceil(places * BATCH_SHARE);
  }

  /** Takes a place; returns the function that frees it, or undefined if the address has its maximum. */
  enter({ address, rows }: Pick<GenuineAddress, "address" | "rows">): (() => void) | undefined {
    const taken = this.#taken.get(address) ?? 0;
    if (taken >= (rows === undefined ? this.#most : this.#mostOfBatch)) return undefined;
    this.#taken.set(address, taken + 1);
    return () => {
      const left = (this.#taken.get(address) ?? 1) - 1;
      if (left > 0) this.#taken.set(address, left);
      else this.#taken.delete(address);
    };
  }
}
