// Absence proves something only where the look-up is known to work: an account's look-up counts once it has found one
// of our own answered items (docs/reading-the-specification.md §1, docs/decisions/0017). Such an item, the sample, is
// looked for at growing ages until it is found, or is old enough to count as missing.
import { open, seal } from "../crypto/sealed.js";
import type { KeyRing } from "../crypto/key-ring.js";
import type { Pool } from "../postgres/pool.js";
import type { LookUpFinding } from "./effect.js";
import { asUnavailable } from "./patience.js";

export interface LookUpKey {
  provider: string;
  account: string;
  operation: string;
  /** A look-up may find one form of an item and miss another. */
  form: string;
  /** Digest of the configuration that decides what is found. */
  configuration: string;
}

export interface LookUpProofsOptions {
  /** Between two empty look-ups before something is sent again: an item that shows later makes the look-up too slow. */
  spacingMs: number;
  /** How long an item that was just answered may stay invisible. */
  invisibleMs: number;
}

export interface LookUpReport extends Omit<LookUpKey, "provider" | "account"> {
  finding: LookUpFinding;
  foundAt?: Date;
  isLooking: boolean;
}

interface Stored {
  finding: "found" | "missing" | null;
  foundAt: Date | null;
  missedAfterMs: number | null;
  isLooking: boolean;
}

interface Sample {
  value: unknown;
  /** Milliseconds since its answer. */
  ageMs: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The number of newest effects in which an answered item is searched. */
const NEWEST = 100_000;
/** For so long one caller's look-up blocks those of others. */
const TAKEN_MS = 60_000;

const columns = `finding, found_at as "foundAt", missed_after_ms::float8 as "missedAfterMs", sample is not null as "isLooking"`;
const ofKey =
  "provider = $1 and account = $2 and operation = $3 and form = $4 and configuration = $5";
const milliseconds = (parameter: string) => `${parameter}::float8 * interval '1 millisecond'`;

export class LookUpProofs {
  readonly #pool: Pool;
  readonly #ring: KeyRing;
  readonly #options: LookUpProofsOptions;
  /** No new sample is taken before this time, so that an ordinary submit makes no query. */
  readonly #settledUntil = new Map<string, number>();
  /** From this time on, items that were answered before are looked up again. */
  readonly #earlierAfter = new Map<string, number>();

  constructor(pool: Pool, ring: KeyRing, options: LookUpProofsOptions) {
    this.#pool = pool;
    this.#ring = ring;
    this.#options = options;
  }

  async finding(key: LookUpKey): Promise<LookUpFinding> {
    const { rows } = await asUnavailable(
      this.#pool.query<Stored>(
        `select ${columns} from trustflow.look_up_proofs where ${ofKey}`,
        valuesOf(key),
      ),
    );
    return this.#judge(rows[0]);
  }

  async report(
    of: Pick<LookUpKey, "provider" | "account" | "configuration">,
  ): Promise<LookUpReport[]> {
    const { rows } = await this.#pool.query<Stored & { operation: string; form: string }>(
      `select operation, form, ${columns} from trustflow.look_up_proofs
       where provider = $1 and account = $2 and configuration = $3 order by operation, form`,
      [of.provider, of.account, of.configuration],
    );
    return rows.map(({ operation, form, foundAt, isLooking, ...stored }) => ({
      operation,
      form,
      configuration: of.configuration,
      finding: this.#judge({ ...stored, foundAt, isLooking }),
      ...(foundAt && { foundAt }),
      isLooking,
    }));
  }

  /**
   * An item of ours was answered: it becomes the sample where one is due: once a day, and once an hour where it was missed or late. Whether
   * it is worth to look now.
   */
  async offer(key: LookUpKey, value: unknown): Promise<boolean> {
    const id = idOf(key);
    if ((this.#settledUntil.get(id) ?? 0) > Date.now()) return false;
    const { rowCount } = await this.#pool.query(
      `insert into trustflow.look_up_proofs as p
         (provider, account, operation, form, configuration, sample, sampled_at, next_look_at)
       values ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp())
       on conflict (provider, account, operation, form, configuration) do update
         set sample = excluded.sample, sampled_at = excluded.sampled_at, next_look_at = excluded.next_look_at,
           sample_missed_ms = null
         where p.sampled_at < clock_timestamp() - ${milliseconds("$7")}
           or p.sample is null and (p.found_at is null or p.found_at < clock_timestamp()
           - case when p.finding = 'found' and coalesce(p.missed_after_ms, 0) < $9
               then ${milliseconds("$7")} else ${milliseconds("$8")} end)`,
      [...valuesOf(key), this.#seal(key, value), DAY_MS, HOUR_MS, this.#options.spacingMs],
    );
    // Another sample is being looked for, or none is due: not every submit needs to know which.
    if (rowCount === 0) this.#settledUntil.set(id, Date.now() + this.#options.spacingMs);
    return true;
  }

  /**
   * Looks for the sample if that is due; `find` throws if its answer says nothing. A sample that no worker could look up for
   * a day says nothing either, because the provider may have removed it; the next item replaces it.
   */
  async look(key: LookUpKey, find: (sample: unknown) => Promise<boolean>): Promise<void> {
    const sample = await this.#takeSample(key);
    if (!sample) return;
    if (await find(sample.value)) return this.found(key);
    await this.#missed(key, sample.ageMs);
  }

  /** Any of our items is a proof, whichever worker looked for it. */
  async found(key: LookUpKey): Promise<void> {
    await this.#pool.query(
      `insert into trustflow.look_up_proofs as p (provider, account, operation, form, configuration, finding, found_at)
       values ($1, $2, $3, $4, $5, 'found', clock_timestamp())
       on conflict (provider, account, operation, form, configuration) do update
         set finding = 'found', found_at = clock_timestamp(), sample = null, next_look_at = null,
           missed_after_ms = coalesce(p.sample_missed_ms, case when p.finding = 'found' then p.missed_after_ms end)`,
      valuesOf(key),
    );
    this.#settledUntil.set(idOf(key), Date.now() + HOUR_MS);
  }

  /**
   * Tokens of answered effects, the newest first: items of ours from before this look-up was configured. None where they were
   * asked for just now: thousands may wait for the same proof.
   */
  async newestAnswered(key: LookUpKey): Promise<string[]> {
    const id = idOf(key);
    if ((this.#earlierAfter.get(id) ?? 0) > Date.now()) return [];
    this.#earlierAfter.set(id, Date.now() + this.#options.spacingMs);
    const { provider, account, operation } = key;
    const { rows } = await this.#pool.query<{ token: string }>(
      `select token from trustflow.effects
       where seq > (select coalesce(max(seq), 0) - ${NEWEST} from trustflow.effects)
         and state = 'answered' and provider = $1 and account = $2 and operation = $3
       order by seq desc limit 3`,
      [provider, account, operation],
    );
    return rows.map(({ token }) => token);
  }

  #judge(stored: Stored | undefined): LookUpFinding {
    if (!stored?.finding) return "unproven";
    if (stored.finding === "missing") return "missing";
    const isLate = (stored.missedAfterMs ?? 0) >= this.#options.spacingMs;
    return isLate ? "late" : "found";
  }

  async #takeSample(key: LookUpKey): Promise<Sample | undefined> {
    const { rows } = await this.#pool.query<{ sample: Buffer; ageMs: number }>(
      `update trustflow.look_up_proofs set next_look_at = clock_timestamp() + ${milliseconds("$6")}
       where ${ofKey} and sample is not null and next_look_at <= clock_timestamp()
         and sampled_at > clock_timestamp() - ${milliseconds("$7")}
       returning sample, (extract(epoch from clock_timestamp() - sampled_at) * 1000)::float8 as "ageMs"`,
      [...valuesOf(key), TAKEN_MS, DAY_MS],
    );
    const [row] = rows;
    return row && { value: this.#open(key, row.sample), ageMs: row.ageMs };
  }

  async #missed(key: LookUpKey, ageMs: number): Promise<void> {
    const { spacingMs, invisibleMs } = this.#options;
    if (ageMs >= invisibleMs) {
      await this.#pool.query(
        `update trustflow.look_up_proofs set finding = 'missing', found_at = clock_timestamp(),
           missed_after_ms = $6, sample = null, next_look_at = null
         where ${ofKey} and sample is not null`,
        [...valuesOf(key), Math.round(ageMs)],
      );
      return;
    }
    // A quarter of the spacing, a half, all of it, then twice as long each time.
    let nextAge = spacingMs / 4;
    while (nextAge <= ageMs) nextAge *= 2;
    await this.#pool.query(
      `update trustflow.look_up_proofs set sample_missed_ms = greatest(sample_missed_ms, $6),
         next_look_at = sampled_at + ${milliseconds("$7")}
       where ${ofKey} and sample is not null`,
      [...valuesOf(key), Math.round(ageMs), Math.min(nextAge, invisibleMs)],
    );
  }

  #seal(key: LookUpKey, value: unknown): Buffer {
    return seal(this.#ring, Buffer.from(JSON.stringify({ value })), contextOf(key));
  }

  #open(key: LookUpKey, sealed: Buffer): unknown {
    const text = open(this.#ring, sealed, contextOf(key)).toString();
    return (JSON.parse(text) as { value: unknown }).value;
  }
}

function valuesOf({ provider, account, operation, form, configuration }: LookUpKey): string[] {
  return [provider, account, operation, form, configuration];
}

function idOf(key: LookUpKey): string {
  return valuesOf(key).join("/");
}

function contextOf(key: LookUpKey): string {
  return `look-up:${idOf(key)}`;
}
