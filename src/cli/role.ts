// What every role has in common: ready line, graceful stop, health, end with its parent, log to stderr.
import { pino } from "pino";
import type { Config } from "../config.js";
import { type Health, type MetricsSource, startHealth, startMetrics } from "../health.js";
import { visibleJson } from "../contracts/shared/text.js";
import { exitWithParent } from "../local/processes/parent-watch.js";
import { fixedPart, redact } from "../temporal/redaction.js";
import { exitCodes, failureOf } from "./output/exit.js";
import { writeJsonLine } from "./output/output.js";

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
  /** Ends by itself: a rejection ends the process with it. */
  ended?: Promise<unknown>;
  /** Finishes what is under way. */
  close(): Promise<unknown>;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Starts the role, says so on stdout, and ends the process once a signal has stopped it; a failure is a line of its log. */
export async function runRole(name: string, start: () => Promise<RunningRole>): Promise<never> {
  exitWithParent();
  logWhatNodeSays(name);
  // For good: a second signal must neither cut short what the first one lets finish, nor change the exit code.
  const asked = new Promise<void>((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve());
  });
  try {
    const role = await start();
    const { url, details } = role;
    writeJsonLine({ ready: name, ...(url && { url }), ...details });
    try {
      await Promise.race([asked, ...(role.ended ? [role.ended] : [])]);
    } finally {
      role.health.end();
      await role.close();
    }
  } catch (error) {
    if (process.stderr.isTTY) throw error;
    const { exitCode, message } = failureOf(error);
    // What is out of reach is said in our own words; any other message may quote anything.
    const told = exitCode === exitCodes.outOfReach ? { reason: message } : {};
    lines(name, "ERROR").error({ ...redact({ error }), ...told, exitCode }, "the role has failed");
    process.exitCode = exitCode;
  }
  // At once: a process that runs out of work forgets its signal handlers first, and one more signal would be its end.
  process.exit();
}

/** JSON lines on stderr, with what redaction.ts lets through. */
export function roleLogger(role: string, level: Config["log"]["level"]): RoleLogger {
  const log = lines(role, level);
  return {
    info: (message, details) => log.info(redact(details), fixedPart(message)),
    warn: (message, details) => log.warn(redact(details), fixedPart(message)),
  };
}

function lines(role: string, level: Config["log"]["level"]) {
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

/** Node writes warnings and uncaught errors to stderr as text, with messages that may quote anything. */
function logWhatNodeSays(name: string): void {
  const log = roleLogger(name, "WARN");
  process.removeAllListeners("warning");
  process.on("warning", ({ name: kind, code }: NodeJS.ErrnoException) => {
    log.warn("a warning of Node", { kind, code });
  });
  process.on("uncaughtException", (error) => {
    const [, at] = /\n {4}at (.*)/.exec(error.stack?.replace(error.message, "") ?? "") ?? [];
    lines(name, "ERROR").error({ ...redact({ error }), at }, "uncaught");
    process.exit(exitCodes.failed);
  });
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
