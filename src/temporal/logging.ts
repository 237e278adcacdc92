// One choke point for everything the SDK logs: its own messages, the native core's, `log` of workflows and activities.
// What may be shown is said in redaction.ts.
import type { LogLevel, Logger } from "@temporalio/common";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { destination, pino } from "pino";
import type { DestinationStream } from "pino";
import { metrics } from "../contracts/shared/metrics.js";
import { visibleJson } from "../contracts/shared/text.js";
import { messagePrefix, redact } from "./redaction.js";
import { noteLine } from "./worker-watch.js";

const STDERR = 2;
/** Each of our workers polls for one kind of task, so the SDK would warn of every one of them. */
const BY_DESIGN = /^No (workflows|activities|Nexus services) registered/;

/** JSON Lines on stderr. A line's text is the fixed part of the message: nothing after ": " or the first line. */
export function redactingLogger(level: LogLevel, to?: DestinationStream): Logger {
  const lines = pino(
    {
      level: "trace",
      base: null,
      timestamp: false,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: visibleJson },
    },
    to ?? destination({ dest: STDERR, sync: true }),
  );
  return new DefaultLogger(level, ({ level: at, timestampNanos, message, meta }) => {
    noteLine(message);
    if (BY_DESIGN.test(message)) return;
    const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    lines[at.toLowerCase() as Lowercase<LogLevel>](
      { time, ...redact(meta) },
      messagePrefix(message),
    );
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
              [metrics.providerCallSeconds.name]: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
            },
          },
        },
      }),
    },
  });
  return logger;
}

// Tells Prometheus whether the worker is ready, so that an alert needs no probe of GET /ready.

const EVERY_MS = 15_000;

/** Looks at once, then every 15 seconds. */
export function gaugeReady(look: () => Promise<{ ok: boolean }>): { close(): void } {
  const { name, help } = metrics.workerReady;
  const gauge = Runtime.instance().metricMeter.createGauge(name, "int", undefined, help);
  const note = () => void look().then(({ ok }) => gauge.set(ok ? 1 : 0));
  note();
  const timer = setInterval(note, EVERY_MS);
  return { close: () => clearInterval(timer) };
}
