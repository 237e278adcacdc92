// The tables of metrics and alerts in docs/operations/watch.md, as their definitions say. `npm run reference` writes them.
import { posix } from "node:path";
import { metrics } from "../../src/contracts/shared/metrics.js";
import type { Metric } from "../../src/contracts/shared/metrics.js";
import { alerts } from "../deploy/monitoring.js";
import type { Alert } from "../deploy/monitoring.js";
import { table } from "./markdown.js";

function rowOf({ name, role, type, unit, labels = {}, help, more }: Metric): string {
  const said = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${values}`);
  const what = more === undefined ? help : `${help}. ${more}`;
  return `| \`${name}\` | ${role} | ${type} | ${unit} | ${said.join("; ")} | ${what} |`;
}

function alertRowOf({ alert, expr, for: span, annotations }: Alert): string[] {
  const { summary, then, runbook } = annotations;
  const asked = `\`${expr.trim().replaceAll(/\s+/g, " ")}\``;
  const link = posix.relative("docs/operations", runbook);
  return [
    `${alert}: ${summary}`,
    span === undefined ? asked : `${asked} for ${span}`,
    `${then} ([more](${link}))`,
  ];
}

/** The page with its tables as they have to be. */
export function metricsPage(page: string): string {
  const rows = Object.values(metrics).map(rowOf).join("\n");
  const ofAlerts = table(["alert", "fires when", "then"], alerts.map(alertRowOf));
  return page
    .replace(/(?:^\| `trustflow_.*\n)+/m, () => `${rows}\n`)
    .replace(/^\| alert \| .*\n(?:\|.*\n)+/m, () => `${ofAlerts}\n`);
}
