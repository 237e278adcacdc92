// Decides what each callback is answered: by its address before its body is read, then by its body, then by what the database did. It
// knows neither HTTP (receiver.ts) nor the database (arrivals.ts).
import { createHash } from "node:crypto";
import { parseJson } from "../../contracts/shared/text.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { AddressReader } from "../address.js";
import type { GenuineAddress } from "../address.js";

export const receiverEvents = [
  "accepted",
  "duplicate",
  "forged",
  "notJson",
  "tooLarge",
  "overloaded",
  "databaseAway",
  "full",
  "expired",
] as const;
export type ReceiverEvent = (typeof receiverEvents)[number];

/** With `full` the database did not store the callback. */
export type StoreResult = "stored" | "duplicate" | "full";

export interface Arrival extends GenuineAddress {
  /** Unique within the address. */
  identifier: string;
  body: Buffer;
}

export interface AdmissionLimits {
  addressDays: number;
  /** Limits a body that comes to an account's address, because all processes of the account share its daily quota. */
  maxAccountBodyBytes: number;
  /** How many callbacks may wait for their commit. */
  queueLimit: number;
  /** How many bodies may be received at the same time. */
  readLimit: number;
}

/** A callback that may go on. It holds a place until `leave`, which may be called more than once. */
export interface Admitted<T> {
  admitted: T;
  leave(): void;
}

const DAY_MS = 86_400_000;

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #addresses: AddressReader;
  readonly #full = new FullAddresses();
  /** Bodies in transit. One address takes a quarter at most, so that slow senders leave room for the others. */
  readonly #reading: Places;
  /** Callbacks that wait for their commit. One address takes half at most, so that a flood leaves room for the others. */
  readonly #waiting: Places;

  constructor(ring: KeyRing, limits: AdmissionLimits) {
    this.#limits = limits;
    this.#addresses = new AddressReader(ring);
    this.#reading = new Places(limits.readLimit, 1 / 4);
    this.#waiting = new Places(limits.queueLimit, 1 / 2);
  }

  /** True if no callback finds a place, whatever its address. */
  get isFull(): boolean {
    return this.#reading.isFull || this.#waiting.isFull;
  }

  get inFlight(): number {
    return this.#reading.taken + this.#waiting.taken;
  }

  /** `segment`: the last part of the address. */
  byAddress(segment: string): Admitted<GenuineAddress> | ReceiverEvent {
    const address = this.#addresses.read(segment);
    if (address === undefined) return "forged";
    const { issuedBefore } = address;
    const lifeMs = this.#limits.addressDays * DAY_MS;
    if (issuedBefore !== undefined && issuedBefore.getTime() + lifeMs < Date.now())
      return "expired";
    if (this.#full.has(address.address)) return "full";
    return this.#reading.enter(address, address) ?? "overloaded";
  }

  byBody(address: GenuineAddress, body: Buffer | null): Admitted<Arrival> | ReceiverEvent {
    if (this.#waiting.isFull) return "overloaded";
    const size = body?.length ?? 0;
    if ("account" in address.subject && size > this.#limits.maxAccountBodyBytes) return "tooLarge";
    const identifier = body === null ? undefined : identify(body, "account" in address.subject);
    if (body === null || identifier === undefined) return "notJson";
    return this.#waiting.enter(address, { ...address, identifier, body }) ?? "overloaded";
  }

  /** An address that the database calls full is refused for a while without asking it. */
  byStoreResult({ address }: Arrival, result: StoreResult): ReceiverEvent {
    if (result === "stored") return "accepted";
    if (result === "full") this.#full.add(address);
    return result;
  }
}

// A short identifier of plain characters is used unchanged, because it is an index key.
const PLAIN_IDENTIFIER = /^[\x20-\x7e]{1,200}$/;

/**
 * A top-level string `Identifier` (P2 §2.11), else a digest of the body; undefined for what is not JSON. `isOfAccount`: the specification
 * shows no member of these callbacks (P1 §6.1, §6.2), so one that is repeated has the same bytes.
 */
function identify(body: Buffer, isOfAccount: boolean): string | undefined {
  let value: unknown;
  try {
    value = parseJson(body.toString());
  } catch {
    return undefined;
  }
  const given = isOfAccount ? undefined : (value as { Identifier?: unknown } | null)?.Identifier;
  if (typeof given === "string" && PLAIN_IDENTIFIER.test(given)) return given;
  const source = typeof given === "string" && given !== "" ? given : body;
  return `sha256:${createHash("sha256").update(source).digest("hex")}`;
}

const MAX_KEPT = 10_000;
const KEPT_MS = 60_000;

/** Addresses that were full recently, so that a flood does not query the database for each callback. */
class FullAddresses {
  readonly #known = new Map<string, number>();

  add(address: string): void {
    this.#known.delete(address);
    this.#known.set(address, performance.now() + KEPT_MS);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KEPT && oldest !== undefined) this.#known.delete(oldest);
  }

  has(address: string): boolean {
    const until = this.#known.get(address);
    if (until === undefined || until > performance.now()) return until !== undefined;
    this.#known.delete(address);
    return false;
  }
}

/** The address of a batch brings what others bring in hundreds of addresses: it may take nearly all places. */
const BATCH_SHARE = 0.9;

class Places {
  taken = 0;
  readonly #places: number;
  readonly #most: number;
  readonly #mostOfBatch: number;
  readonly #takenBy = new Map<string, number>();

  /** `share`: of all places, for one address. */
  constructor(places: number, share: number) {
    this.#places = places;
    this.#most = Math.ceil(places * share);
    this.#mostOfBatch = Math.ceil(places * BATCH_SHARE);
  }

  get isFull(): boolean {
    return this.taken >= this.#places;
  }

  /** Undefined if the address has its maximum. */
  enter<T>(
    { address, rows }: Pick<GenuineAddress, "address" | "rows">,
    admitted: T,
  ): Admitted<T> | undefined {
    const taken = this.#takenBy.get(address) ?? 0;
    if (this.isFull || taken >= (rows === undefined ? this.#most : this.#mostOfBatch))
      return undefined;
    this.#count(address, 1);
    let isIn = true;
    const leave = () => {
      if (isIn) this.#count(address, -1);
      isIn = false;
    };
    return { admitted, leave };
  }

  #count(address: string, change: number): void {
    const taken = (this.#takenBy.get(address) ?? 0) + change;
    this.taken += change;
    if (taken > 0) this.#takenBy.set(address, taken);
    else this.#takenBy.delete(address);
  }
}
