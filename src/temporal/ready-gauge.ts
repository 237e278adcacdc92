// Tells Prometheus whether the worker is ready, so that an alert needs no probe of GET /ready.
import { Runtime } from "@temporalio/worker";
import { metrics } from "../contracts/shared/metrics.js";

const EVERY_MS = 15_000;

/** Looks at once, then every 15 seconds. */
export function gaugeReady(look: () => Promise<{ ok: boolean }>): { close(): void } {
  const { name, help } = metrics.workerReady;
  const gauge = Runtime.instance().metricMeter.createGauge(name, "int", undefined, help);
  const note = () => void look().then(({ ok }) => gauge.set(ok ? 1 : 0));
  note();
  const timer = setInterval(note, EVERY_MS);
  return { close: () => clearInterval(timer) };
}
