// The receiver's metrics for Prometheus (docs/reference/metrics.md).
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { metrics, promOptions } from "../../contracts/shared/metrics.js";
import { receiverEvents } from "./admission.js";
import type { ReceiverOptions } from "./receiver.js";

export interface ReceiverMetrics {
  registry: Registry;
  hooks: Required<Pick<ReceiverOptions, "onEvent" | "onCommit">>;
}

export function receiverMetrics(inFlight: () => number): ReceiverMetrics {
  const registry = new Registry();
  const registers = [registry];
  const callbacks = new Counter({
    ...promOptions(metrics.callbacks),
    registers,
  });
  // Start each series at 0: otherwise its first event is not visible as an increase.
  for (const result of receiverEvents) callbacks.inc({ result }, 0);
  const commit = new Histogram({
    ...promOptions(metrics.callbackCommit),
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  registry.registerMetric(
    new Gauge({
      ...promOptions(metrics.callbacksInFlight),
      registers: [],
      collect() {
        this.set(inFlight());
      },
    }),
  );
  return {
    registry,
    hooks: {
      onEvent: (result, count) => callbacks.inc({ result }, count),
      onCommit: (seconds) => commit.observe(seconds),
    },
  };
}
