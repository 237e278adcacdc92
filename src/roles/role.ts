// Gives every role its log on stderr, its health and its metrics, and ends it.
import { pino } from "pino";
import type { Config } from "../config/config.js";
import { visibleJson } from "../contracts/shared/text.js";
import { type Health, type MetricsSource, startHealth, startMetrics } from "./health.js";
import { messagePrefix, redact } from "../temporal/redaction.js";

export interface RoleLogger {
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
}

export interface RunningRole {
  /** Where it listens, or at `withHealth`'s address: the same answers in every role. */
  health: Health;
  /** Only where it listens. */
  url?: string;
  /** More of the ready line. */
  details?: object;
  /** Settles where the role ends by itself. A rejection ends the process, and `close` then has a minute. */
  ended?: Promise<unknown>;
  /** Finishes the work in progress. */
  close(): Promise<unknown>;
}

/** JSON lines on stderr, with what redaction.ts lets through. */
export function roleLogger(role: string, level: Config["log"]["level"]): RoleLogger {
  const log = logLines(role, level);
  return {
    info: (message, details) => log.info(redact(details), messagePrefix(message)),
    warn: (message, details) => log.warn(redact(details), messagePrefix(message)),
  };
}

export function logLines(role: string, level: Config["log"]["level"]) {
  return pino(
    {
      level: level.toLowerCase(),
      base: { role },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: visibleJson },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Nothing where no port is configured. */
export async function withHealth(
  { healthHost: host, healthPort: port }: { healthHost: string; healthPort?: number | undefined },
  health: Health,
): Promise<{ details: object; close(): Promise<void> }> {
  if (port === undefined) return { details: {}, close: () => Promise.resolve() };
  const server = await startHealth({ host, port, health });
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
