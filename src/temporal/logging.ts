// One choke point for everything the SDK logs: its own messages, the native core's, `log` of workflows and activities.
// What may be personal or secret (failure messages, stacks, payloads) stays out, because only what is listed is shown.
import type { LogLevel, Logger } from "@temporalio/common";
import { DefaultLogger, type LogEntry, Runtime } from "@temporalio/worker";
import { type DestinationStream, destination, pino } from "pino";
import { providerCallSeconds } from "../contracts/names.js";

const STDERR = 2;
const LONGEST = 300;
const NAME = /^[\w.$-]{1,80}$/;

/** Texts that are names or ids; numbers and booleans pass under any name, everything else passes under none. */
const shown = new Set([
  ...[
    "sdkComponent",
    "target",
    "state",
    "status",
    "operation",
    "code",
    "kind",
    "role",
    "address",
    "origin",
  ],
  ...[
    "namespace",
    "taskQueue",
    "workflowId",
    "runId",
    "workflowType",
    "activityId",
    "activityType",
  ],
  ...[
    "signalName",
    "updateName",
    "queryName",
    "process",
    "step",
    "provider",
    "account",
    "table",
    "migration",
  ],
]);

/** JSON Lines on stderr. A line's text is the fixed part of the message: nothing after ": " or the first line. */
export function redactingLogger(level: LogLevel, to?: DestinationStream): Logger {
  const lines = pino(
    {
      level: "trace",
      base: null,
      timestamp: false,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    to ?? destination({ dest: STDERR, sync: true }),
  );
  return new DefaultLogger(level, ({ level: at, timestampNanos, message, meta }) => {
    const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    lines[lowerCase(at)]({ time, ...redact(meta) }, fixedPart(message));
  });
}

export interface RuntimeSettings {
  level: LogLevel;
  /** host:port of the Prometheus endpoint of the SDK's metrics and ours. */
  metricsAddress?: string;
  /** Instead of stderr. */
  logTo?: DestinationStream;
}

/** Once in a process, before the first worker or native connection. */
export function installRuntime({ level, metricsAddress, logTo }: RuntimeSettings): Logger {
  const logger = redactingLogger(level, logTo);
  // Libraries below the core log each forwarded line again when they are asked for everything, without end.
  const other = level === "ERROR" ? "ERROR" : "WARN";
  Runtime.install({
    logger,
    telemetryOptions: {
      logging: { filter: { core: level, other }, forward: {} },
      ...(metricsAddress !== undefined && {
        metrics: {
          prometheus: {
            bindAddress: metricsAddress,
            countersTotalSuffix: true,
            useSecondsForDurations: true,
            histogramBucketOverrides: {
              [providerCallSeconds]: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
            },
          },
        },
      }),
    },
  });
  return logger;
}

function redact(meta: LogEntry["meta"] = {}): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(meta)) {
    if (typeof value === "number" || typeof value === "boolean") kept[key] = value;
    else if (typeof value === "string" && shown.has(key)) kept[key] = value.slice(0, LONGEST);
    else if (value instanceof Error || key === "error") kept[key] = { types: typesOf(value) };
  }
  return kept;
}

/** Of an error and its causes the types only, outermost first. */
function typesOf(error: unknown): string[] {
  const types: string[] = [];
  for (
    let at = error;
    typeof at === "object" && at !== null && types.length < 5;
    at = (at as Error).cause
  ) {
    const { type, name } = at as { type?: unknown; name?: unknown };
    types.push(
      [type, name].find((text): text is string => typeof text === "string" && NAME.test(text)) ??
        "Error",
    );
  }
  return types;
}

function fixedPart(message: string): string {
  return (message.split(/: |\n/, 1)[0] ?? "").slice(0, LONGEST);
}

function lowerCase<T extends string>(text: T): Lowercase<T> {
  return text.toLowerCase() as Lowercase<T>;
}
