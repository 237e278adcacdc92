// The relay's metrics for Prometheus (docs/reference/metrics.md): counters of its own work, and waiting callbacks, which it reads at
// each scrape. A value that cannot be read is left out.
import { Counter, Gauge, Registry } from "prom-client";
import type { Pool } from "../../postgres/pool.js";
import { metrics, promOptions } from "../../contracts/shared/metrics.js";
import type { Metric } from "../../contracts/shared/metrics.js";
import type { RelayOptions } from "./relay.js";
import { isFlooded } from "../inbox/inbox.js";
import { parkReasons } from "../inbox/rows.js";

export interface RelaySources {
  pool: Pool;
  isListening(): boolean;
  /** Processes that need an operator decision, by kind; read with its own time limit. */
  attentions(): Promise<Record<string, number>>;
  /** Open processes by process; read likewise. */
  open(): Promise<Record<string, number>>;
  /** Stuck processes, repaired or not, as of the last read; undefined before the first read and after a failed one. */
  stuck(): Record<string, number> | undefined;
  /** Deliveries of webhooks that wait or have failed; absent without webhooks. */
  webhooks?: (() => Promise<{ endpoint: string; state: string; count: number }[]>) | undefined;
}

export interface RelayMetrics {
  contentType: string;
  metrics(): Promise<string>;
  onEvent: NonNullable<RelayOptions["onEvent"]>;
  onWake: NonNullable<RelayOptions["onWake"]>;
}

export function relayMetrics({
  pool,
  isListening,
  attentions,
  open,
  stuck,
  webhooks = async () => [],
}: RelaySources): RelayMetrics {
  const registry = new Registry();
  const registers = [registry];
  const relayed = new Counter({ ...promOptions(metrics.relayCallbacks), registers });
  // Start each series at 0: otherwise its first event is not visible as an increase.
  for (const result of ["delivered", "late", "kept", "waiting"]) relayed.inc({ result }, 0);
  for (const reason of parkReasons) relayed.inc({ result: "parked", reason }, 0);
  const wakes = new Counter({ ...promOptions(metrics.relayWakes), registers });
  const gauge = (metric: Metric) => new Gauge({ ...promOptions(metric), registers });
  const flooded = gauge(metrics.addressesFlooded);
  const listening = gauge(metrics.relayListening);
  const inbox = gauge(metrics.inboxCallbacks);
  const lag = gauge(metrics.inboxLag);
  const cleanupAge = gauge(metrics.cleanupAge);
  const inAttention = gauge(metrics.inAttention);
  const openProcesses = gauge(metrics.openProcesses);
  const failing = gauge(metrics.stuck);
  const unsettled = gauge(metrics.webhookDeliveries);

  async function readWebhooks(): Promise<void> {
    const found = await webhooks().catch(() => []);
    unsettled.reset();
    for (const { endpoint, state, count } of found) unsettled.set({ endpoint, state }, count);
  }

  async function readInbox(): Promise<void> {
    const found = await backlog(pool).catch(() => undefined);
    inbox.reset();
    lag.remove();
    flooded.remove();
    cleanupAge.remove();
    if (found === undefined) return;
    const { lag: seconds, flooded: addresses, cleanupAge: age, ...counts } = found;
    flooded.set(addresses);
    cleanupAge.set(age);
    for (const [state, count] of Object.entries(counts)) inbox.set({ state }, count);
    lag.set(seconds);
  }

  async function readProcesses(
    counts: Gauge,
    label: string,
    read: () => Promise<Record<string, number>>,
  ): Promise<void> {
    const found = await read().catch(() => ({}));
    counts.reset();
    for (const [value, count] of Object.entries(found)) counts.set({ [label]: value }, count);
  }

  return {
    contentType: registry.contentType,
    async metrics() {
      listening.set(isListening() ? 1 : 0);
      await Promise.all([
        readInbox(),
        readProcesses(inAttention, "kind", attentions),
        readProcesses(openProcesses, "process", open),
        readProcesses(failing, "repaired", async () => stuck() ?? {}),
        readWebhooks(),
      ]);
      return registry.metrics();
    },
    onEvent: (settlement, count) => {
      const reason = settlement.state === "parked" && { reason: settlement.reason };
      relayed.inc({ result: settlement.state, ...reason }, count);
    },
    onWake: () => wakes.inc(),
  };
}

interface Backlog {
  unaddressed: number;
  waiting: number;
  parked: number;
  surplus: number;
  flooded: number;
  lag: number;
  cleanupAge: number;
}

/** Each part reads its own index, up to a limit (postgres/migrations). */
async function backlog(pool: Pool): Promise<Backlog> {
  const count = (condition: string) =>
    `(select count(*)::int from (select from trustflow.callbacks where ${condition} limit 100000) as counted)`;
  // Without its body nobody can replay a callback: an erasure, or its period, has settled it. The others have theirs.
  const hasBody = "body is not null";
  const { rows } = await pool.query<Backlog>({
    text: `select ${count("state = 'unaddressed'")} as unaddressed, ${count("state = 'waiting'")} as waiting,
        ${count(`state = 'parked' and ${hasBody}`)} as parked, ${count(`state = 'surplus' and ${hasBody}`)} as surplus,
        (select count(*)::int from (select from trustflow.callback_addresses
          where ${isFlooded} limit 1000) as counted) as flooded,
        coalesce((
          select extract(epoch from clock_timestamp() - received_at)::float8 from trustflow.callbacks
          where state = 'waiting' order by id limit 1), 0) as lag,
        (select extract(epoch from clock_timestamp() - ended_at)::float8 from trustflow.cleanups) as "cleanupAge"`,
    query_timeout: 2_000,
  } as { text: string });
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL gave no row");
  return row;
}
