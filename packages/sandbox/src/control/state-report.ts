// What the sandbox holds at a glance.
import type { SandboxProvider } from "../exchange/operation.js";
import type { SandboxParts } from "../engine/parts.js";
import type { Speed } from "../engine/clock.js";

export interface StateReport {
  now: string;
  speed: Speed;
  seed: string;
  /** provider → state → number of items */
  items: Record<string, Record<string, number>>;
  schedule: { pending: number; next?: string };
  callbacks: Record<"delivered" | "retrying" | "dropped" | "lost" | "pending", number>;
  /** operation → status (or `cut`) → number of requests */
  requests: Record<string, Record<string, number>>;
  ledger: { effects: number; duplicates: number; violations: number };
  /** What the outbox holds. */
  messages: number;
  faults: number;
}

export function stateReport(parts: SandboxParts, providers: SandboxProvider[]): StateReport {
  const items: StateReport["items"] = {};
  for (const provider of providers) {
    const states: Record<string, number> = {};
    for (const { state } of provider.kept.items?.() ?? []) states[state] = (states[state] ?? 0) + 1;
    items[provider.name] = states;
  }
  const { effects, duplicates, violations } = parts.ledger.report();
  const { next } = parts.clock;
  return {
    now: new Date(parts.clock.now()).toISOString(),
    speed: parts.clock.speed,
    seed: parts.options.seed,
    items,
    schedule: {
      pending: parts.clock.pending,
      ...(next !== undefined && { next: new Date(next).toISOString() }),
    },
    callbacks: parts.callbacks.counts(),
    requests: parts.requests.totals(),
    ledger: {
      effects: effects.length,
      duplicates: duplicates.length,
      violations: violations.length,
    },
    messages: parts.outbox.list().length,
    faults: parts.faults.list().length,
  };
}
