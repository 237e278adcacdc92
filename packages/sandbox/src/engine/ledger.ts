// The effect ledger: what would have happened in the real world, one entry per effect, and protocol violations seen.
// An intent is recognised by the caller's own data alone (postal: `LookupKey`), never by a token or a callback address.
import type { Account } from "./accounts.js";
import { CappedLog } from "./capped-log.js";

export interface Effect {
  operation: string;
  intent: string | null;
  itemId: string;
  at: string;
  account: string;
  /** What of the item it is about, such as a document's name: another part is no repeat. */
  part?: string | undefined;
}

type NewEffect = Omit<Effect, "at"> & { at: number };

export interface Violation {
  kind: string;
  operation: string;
  intent: string | null;
  at: string;
  account: string | null;
  detail: string;
}

export interface Duplicate {
  intent: string;
  operation: string;
  part?: string | undefined;
  count: number;
}

export interface LedgerReport {
  effects: Effect[];
  /** intent → operation → number of effects */
  byIntent: Record<string, Record<string, number>>;
  /** Intents for which an operation that may happen once happened more often. */
  duplicates: Duplicate[];
  violations: Violation[];
}

export class Ledger {
  #effects: Effect[] = [];
  #violations = new CappedLog<Violation>(1000);
  readonly #repeatable = new Set<string>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Effects of this operation are counted for an intent, but more than one is no duplicate. */
  allowRepeats(operation: string): void {
    this.#repeatable.add(operation);
  }

  record(effect: NewEffect): void {
    this.#effects.push({ ...effect, at: new Date(effect.at).toISOString() });
    this.#changed();
  }

  violate(
    { operation, at, account }: { operation: string; at: number; account?: Account },
    kind: string,
    intent: string | null,
    detail: string,
  ): void {
    this.#violations.add({
      kind,
      operation,
      intent,
      at: new Date(at).toISOString(),
      account: account?.username ?? null,
      detail,
    });
  }

  report(intent?: string): LedgerReport {
    const wanted = <T extends { intent: string | null }>(list: T[]) =>
      intent === undefined ? [...list] : list.filter((entry) => entry.intent === intent);
    const effects = wanted(this.#effects);
    // Callers choose what is a key here.
    const byIntent = Object.create(null) as LedgerReport["byIntent"];
    for (const { intent: key, operation } of effects) {
      if (key === null) continue;
      const counts = (byIntent[key] ??= {});
      counts[operation] = (counts[operation] ?? 0) + 1;
    }
    const duplicates = this.#duplicates(effects);
    return { effects, byIntent, duplicates, violations: wanted(this.#violations.list()) };
  }

  #duplicates(effects: Effect[]): Duplicate[] {
    const found = new Map<string, Duplicate>();
    for (const { intent, operation, part } of effects) {
      if (intent === null || this.#repeatable.has(operation)) continue;
      const key = JSON.stringify([intent, operation, part]);
      const { count } = found.get(key) ?? { count: 0 };
      found.set(key, { intent, operation, part, count: count + 1 });
    }
    return [...found.values()].filter(({ count }) => count > 1);
  }

  clear(): void {
    this.#effects = [];
    this.#violations.clear();
  }

  save(): { effects: Effect[]; violations: Violation[] } {
    return { effects: this.#effects, violations: this.#violations.list() };
  }

  load(state: { effects: Effect[]; violations: Violation[] }): void {
    this.clear();
    this.#effects = state.effects;
    for (const violation of state.violations) this.#violations.add(violation);
  }
}
