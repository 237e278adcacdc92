// The alerts and the dashboard of deploy/, as the tests read them.
import { parse } from "yaml";
import { textOf } from "./compose-file.js";

export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  annotations: { summary: string; then: string; runbook: string };
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const rules = parse(textOf("deploy/prometheus/rules.yml")) as { groups: { rules: Alert[] }[] };

export const alerts = rules.groups.flatMap((group) => group.rules);

export const { panels } = JSON.parse(textOf("deploy/grafana/trustflow.json")) as Dashboard;

export const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** The metrics that a query names. A name that is followed by `=`, or stands in `by (…)`, is a label. */
export function metricsIn(expr: string): string[] {
  const found = expr.matchAll(/\b(?:trustflow|temporal|approximate)_\w+(?!\w*\s*[=!])/g);
  return [...found].map(([name]) => name);
}
