// A metric as prom-client takes it.
import type { Metric } from "../contracts/shared/metrics.js";

export function promOptions<const M extends Metric>({ name, help, labels }: M) {
  return { name, help, labelNames: Object.keys(labels) as (keyof M["labels"] & string)[] };
}
