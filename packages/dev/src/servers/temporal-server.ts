// A Temporal dev server of our own: free loopback ports, its Web UI, our search attributes; stopped and started again at will.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { SearchAttributeType } from "@temporalio/common";
import { logTail, startChild } from "../processes/child.js";
import type { Child } from "../processes/child.js";
import { answers, freePorts } from "../processes/free-ports.js";
import { removeOnExit } from "../processes/watchdog.js";

export { findTemporal } from "./find-temporal.js";

const READY_LIMIT_MS = 30_000;
/** Of the environment in the file of settings. */
const NAME = "trustflow";

/** Anything made by defineSearchAttributeKey(). */
export interface SearchAttribute {
  name: string;
  type: SearchAttributeType;
}

export interface TemporalOptions {
  /** The CLI's binary, from findTemporal(). */
  path: string;
  namespace?: string;
  searchAttributes?: Iterable<SearchAttribute>;
  /** Kept over a restart; without it a restart starts empty. */
  dbFilename?: string;
  port?: number;
  uiPort?: number;
  /** What the Web UI asks to decode payloads; its path holds a token. */
  codecEndpoint?: string;
  logFile?: string;
  extraArgs?: string[];
}

export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  readonly pid: number;
  readonly exited: Promise<unknown>;
  isAlive(): boolean;
  /** SIGKILL, as a crash would; restart() brings it back on the same ports. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const [free, freeUi] = (await freePorts(2)) as [number, number];
  const { port = free, uiPort = freeUi, namespace = "default" } = options;
  const address = `127.0.0.1:${port}`;
  const logFile = options.logFile ?? (await throwawayLog());
  const attributes = [...(options.searchAttributes ?? [])];
  const settings = `${logFile}.settings`;
  const args = [
    ...["server", "start-dev", "--ip", "127.0.0.1", "--port", String(port)],
    ...["--ui-port", String(uiPort), "--namespace", namespace],
    ...["--log-level", "warn", "--log-format", "json"],
    ...["--dynamic-config-value", "matching.enableFairness=true"],
    ...["--dynamic-config-value", "frontend.enableCancelWorkerPollsOnShutdown=true"],
    ...attributes.flatMap(({ name, type }) => ["--search-attribute", `${name}=${typeNames[type]}`]),
    ...(options.dbFilename ? ["--db-filename", options.dbFilename] : []),
    ...["--env-file", settings, "--env", NAME],
    ...(options.extraArgs ?? []),
  ];
  const { codecEndpoint } = options;
  const start = async (): Promise<Child> => {
    // In a file, because every user of the machine can read the argument list; JSON is YAML. It is there while the server starts, which
    // is when it reads it.
    const env = { [NAME]: codecEndpoint ? { "ui-codec-endpoint": codecEndpoint } : {} };
    await writeFile(settings, JSON.stringify({ env }), { mode: 0o600 });
    try {
      const child = await startChild({ command: options.path, args, logFile });
      await ready(child, port, namespace, attributes).catch(async (error: unknown) => {
        await child.stop();
        throw new Error(`the Temporal dev server did not start: ${await logTail(logFile)}`, {
          cause: error,
        });
      });
      return child;
    } finally {
      await rm(settings, { force: true });
    }
  };
  let child = await start();
  return {
    address,
    namespace,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    isAlive: () => child.isAlive(),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async restart() {
      await child.stop();
      child = await start();
    },
    close: () => child.stop(),
  };
}

const typeNames: Record<SearchAttributeType, string> = {
  [SearchAttributeType.TEXT]: "Text",
  [SearchAttributeType.KEYWORD]: "Keyword",
  [SearchAttributeType.INT]: "Int",
  [SearchAttributeType.DOUBLE]: "Double",
  [SearchAttributeType.BOOL]: "Bool",
  [SearchAttributeType.DATETIME]: "Datetime",
  [SearchAttributeType.KEYWORD_LIST]: "KeywordList",
};

// The port answers before the namespace and the search attributes are there.
async function ready(
  child: Child,
  port: number,
  namespace: string,
  attributes: SearchAttribute[],
): Promise<void> {
  const until = Date.now() + READY_LIMIT_MS;
  let problem: unknown;
  while (child.isAlive() && Date.now() < until) {
    if (!(await answers(port))) {
      await delay(20);
      continue;
    }
    // Without the client's own retries: they are slow, and one that waits when the connection is closed throws out of its timer.
    const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: [] });
    try {
      await connection.withDeadline(Date.now() + 2_000, async () => {
        await connection.workflowService.describeNamespace({ namespace });
        const { customAttributes } = await connection.operatorService.listSearchAttributes({
          namespace,
        });
        const missing = attributes.filter(({ name }) => !(name in (customAttributes ?? {})));
        if (missing.length > 0) throw new Error(`search attributes missing: ${missing.length}`);
      });
      return;
    } catch (error) {
      problem = error;
      await delay(50);
    } finally {
      await connection.close();
    }
  }
  throw problem ?? new Error("it ended at once");
}

async function throwawayLog(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-temporal-"));
  removeOnExit(folder);
  return join(folder, "temporal.log");
}
