// What every role has in common: ready line, graceful stop, health, end with its parent, log to stderr.
import { pino } from "pino";
import type { Config } from "../config.js";
import { type Health, type MetricsSource, startHealth, startMetrics } from "../health.js";
import { exitWithParent } from "../local/parent-watch.js";

export interface RoleLogger {
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
}

export interface RunningRole {
  /** Only where it listens. */
  url?: string;
  /** More of the ready line. */
  details?: object;
  /** Ends by itself: a rejection ends the process with it. */
  ended?: Promise<unknown>;
  /** Finishes what is under way. */
  close(): Promise<unknown>;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Starts the role, says so on stdout, and returns once a signal has stopped it. */
export async function runRole(name: string, start: () => Promise<RunningRole>): Promise<void> {
  exitWithParent();
  let stop: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (stop = resolve));
  for (const signal of signals) process.on(signal, stop);
  try {
    const role = await start();
    const { url, details } = role;
    process.stdout.write(`${JSON.stringify({ ready: name, ...(url && { url }), ...details })}\n`);
    try {
      await Promise.race([asked, ...(role.ended ? [role.ended] : [])]);
    } finally {
      await role.close();
    }
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** JSON lines on stderr; callers pass codes and counts, never bodies. */
export function roleLogger(role: string, level: Config["log"]["level"]): RoleLogger {
  const log = pino(
    {
      level: level.toLowerCase(),
      base: { role },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (message, details) => log.info(details ?? {}, message),
    warn: (message, details) => log.warn(details ?? {}, message),
  };
}

/** Nothing where no port is configured. */
export async function withHealth(
  { healthHost: host, healthPort: port }: { healthHost: string; healthPort?: number | undefined },
  check: () => Health,
): Promise<{ details: object; close(): Promise<void> }> {
  if (port === undefined) return { details: {}, close: () => Promise.resolve() };
  const server = await startHealth({ host, port, check });
  return { details: { health: `${server.url}/health` }, close: () => server.close() };
}

/** Nothing where no address is configured. */
export async function withMetrics(
  { metricsAddress }: { metricsAddress?: string | undefined },
  source: MetricsSource,
): Promise<{ details: object; close(): Promise<void> }> {
  if (metricsAddress === undefined) return { details: {}, close: () => Promise.resolve() };
  const colon = metricsAddress.lastIndexOf(":");
  const host = metricsAddress.slice(0, colon).replaceAll(/[[\]]/g, "");
  const port = Number(metricsAddress.slice(colon + 1));
  const server = await startMetrics({ host, port, source });
  return { details: { metrics: `${server.url}/metrics` }, close: () => server.close() };
}
