// docs/reference/metrics.md, as the definitions of metrics and alerts say. `npm run reference` writes it.
import { posix } from "node:path";
import { metrics } from "../../src/contracts/shared/metrics.js";
import type { Metric } from "../../src/contracts/shared/metrics.js";
import { alerts } from "../deploy/monitoring.js";
import type { Alert } from "../deploy/monitoring.js";
import { linkedFromReference, page, table } from "./markdown.js";

function rowOf({ name, role, type, unit, labels = {}, help, more }: Metric): string[] {
  const said = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${values}`);
  const what = more === undefined ? help : `${help}. ${more}`;
  return [`\`${name}\``, role, type, unit, ...[said.join("; "), what].map(linkedFromReference)];
}

function alertRowOf({ alert, expr, for: span, annotations }: Alert): string[] {
  const { summary, then, runbook } = annotations;
  const asked = `\`${expr.trim().replaceAll(/\s+/g, " ")}\``;
  const link = posix.relative("docs/reference", runbook);
  return [
    `${alert}: ${summary}`,
    span === undefined ? asked : `${asked} for ${span}`,
    `${then} ([more](${link}))`,
  ];
}

const about = `\`npm run reference\` makes this page from \`src/contracts/shared/metrics.ts\` and \`deploy/prometheus/rules.yml\`; a test
compares them. [Watch](../operations/watch.md#metrics-and-alerts) says how to switch metrics on.`;

export function metricsPage(): string {
  return page("Metrics and alerts", about, [
    "## Alerts",
    table(["alert", "fires when", "then"], alerts.map(alertRowOf)),
    "## Metrics",
    table(
      ["metric", "role", "type", "unit", "labels", "what"],
      Object.values<Metric>(metrics).map(rowOf),
    ),
  ]);
}
