// What one address may bring, and for how long (docs/decisions/0020). The counting itself is a function of the database
// (postgres/migrations/0007-callback-quota.ts); what it has refused once the receiver refuses for a while by itself.

export interface Quota {
  /** Rows of a process that it is told of; the others are `surplus`. */
  eventsPerProcess: number;
  rowsPerAddress: number;
  bytesPerAddress: number;
  /** An account's address serves all its processes, for as long as it stands at the provider. */
  accountRowsPerDay: number;
  /** By default as much as so many of the largest bodies take (receiver.ts), so that a few large ones cannot fill a day. */
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

/** What became of an arrival; `full` and `expired` were not stored. */
export type Verdict = "stored" | "duplicate" | "full" | "expired";
export type Refused = Extract<Verdict, "full" | "expired">;

const MAX_KEPT = 10_000;
const KEPT_MS = 60_000;

/** Addresses that were refused lately, so that a flood does not ask the database again for each of its callbacks. */
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

/** How many callbacks of each address are on their way, or wait for their commit. */
export class AddressSlots {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place; what gives it back, or undefined where the address has enough. */
  enter(address: string): (() => void) | undefined {
    const taken = this.#taken.get(address) ?? 0;
    if (taken >= this.#most) return undefined;
    this.#taken.set(address, taken + 1);
    return () => {
      const left = (this.#taken.get(address) ?? 1) - 1;
      if (left > 0) this.#taken.set(address, left);
      else this.#taken.delete(address);
    };
  }
}
