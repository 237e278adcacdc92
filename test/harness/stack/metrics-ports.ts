// Where the roles of a test's stack serve their metrics.
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";

export const metricsRoles = ["receiver", "relay", "worker"] as const;
export type MetricsRole = (typeof metricsRoles)[number];

/** A port of this machine for each role, and the environment that says so. */
export async function metricsPorts() {
  const free = await freePorts(metricsRoles.length);
  const pairs = metricsRoles.map((role, index) => [role, free[index]]);
  const ports = Object.fromEntries(pairs) as Record<MetricsRole, number>;
  const settings = metricsRoles.map((role) => [
    `TRUSTFLOW_${role.toUpperCase()}__METRICS_ADDRESS`,
    `127.0.0.1:${ports[role]}`,
  ]);
  return { ports, env: Object.fromEntries(settings) as Record<string, string> };
}
