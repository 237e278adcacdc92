// The table of metrics in docs/operations/watch.md, as their definitions say. `npm run reference` writes it.
import { metrics } from "../../src/contracts/shared/metrics.js";
import type { Metric } from "../../src/contracts/shared/metrics.js";

function rowOf({ name, role, type, unit, labels, help, more }: Metric): string {
  const said = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${values}`);
  const what = more === undefined ? help : `${help}. ${more}`;
  return `| \`${name}\` | ${role} | ${type} | ${unit} | ${said.join("; ")} | ${what} |`;
}

/** The page with its table as it has to be. */
export function metricsPage(page: string): string {
  const rows = Object.values(metrics).map(rowOf).join("\n");
  return page.replace(/(?:^\| `trustflow_.*\n)+/m, () => `${rows}\n`);
}
