// `trustflow dev`: the whole stack with state that is kept, reloaded when the sources or trustflow.toml change.
import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigurationError } from "trustflow/internal/config/errors.js";
import { exported, readOwnConfiguration, refuseOwnVariables } from "./stack/own-configuration.js";
import { openPrivateFolder } from "./stack/private-folder.js";
import { resetStack } from "./stack/reset.js";
import { simulatedSpans } from "./stack/simulated-spans.js";
import { packageDirectory, stateDirectory } from "./paths.js";
import { type Role, type RoleName, type Stack, startStack } from "./stack/stack.js";
import { type Progress, run } from "./processes/tools.js";

export interface DevOptions {
  /** Default `.trustflow` here. */
  directory?: string;
  /** Begin with an empty Temporal, PostgreSQL and sandbox. */
  reset?: boolean;
  /** Default `trustflow.toml` here, if there is one. */
  config?: string;
  progress: Progress;
  /** Called once everything is up. */
  onReady: (stack: Stack, files: EnvironmentFiles) => void;
  /** Ends it; without one, Ctrl-C, SIGTERM and SIGHUP do. */
  signal?: AbortSignal;
}

/** Environments for other terminals, as lines that a shell reads. */
export interface EnvironmentFiles {
  /** For commands that start, show and control processes. */
  client: string;
  /** For `doctor`, `callbacks`, `cleanup`: the database, every key and the sandbox's accounts too. */
  operator: string;
}

const configured: RoleName[] = ["codec-server", "receiver", "relay", "worker"];

export async function runDev(options: DevOptions): Promise<void> {
  const { progress } = options;
  const directory = options.directory ?? stateDirectory();
  const config = resolve(options.config ?? "trustflow.toml");
  const files = {
    client: join(directory, "client.env"),
    operator: join(directory, "operator.env"),
  };
  refuseOwnVariables(process.env, await readFile(files.operator, "utf8").catch(() => ""));
  const isThere = options.config !== undefined || existsSync(config);
  const own = isThere ? readOwnConfiguration(config) : undefined;
  await openPrivateFolder(directory, progress);
  if (options.reset) await resetStack(directory, progress);
  const ended = options.signal ? once(options.signal, "abort") : interruption();
  let isUp = false;
  void ended.then(() => isUp || progress("stopping once everything has started"));
  const stack = await startStack({
    directory,
    persistent: true,
    progress,
    onDeath: (role, exit) => {
      progress(`${role.name} ended unexpectedly (${exit.signal ?? exit.code}); restarting it`);
      void revive(role, progress);
    },
    config,
    sandboxSpeed: "auto",
    sandboxPersonTime: "real",
    env: simulatedSpans(60, own),
  });
  isUp = true;
  await writeEnvironments(stack, files);
  const reload = reloader(stack, progress, () => writeEnvironments(stack, files));
  const watchers = [watchConfig(config, () => reload("settings")), watchSources(reload)];
  try {
    options.onReady(stack, files);
    await ended;
    progress("stopping");
  } finally {
    for (const watcher of watchers) watcher?.close();
    await stack.close();
  }
}

/** Keys stand in both, so only their owner reads them. */
async function writeEnvironments(stack: Stack, files: EnvironmentFiles): Promise<void> {
  const { DATABASE_URL, ...env } = stack.env;
  // A shell may have a DATABASE_URL of another program.
  const operator = { ...env, ...(DATABASE_URL && { TRUSTFLOW_DATABASE__URL: DATABASE_URL }) };
  const write = (file: string, values: Record<string, string>) => {
    const lines = Object.entries(values).map(([name, value]) => exported(name, value));
    return writeFile(file, lines.join(""), { mode: 0o600 });
  };
  await Promise.all([write(files.client, stack.clientEnv), write(files.operator, operator)]);
}

/** Ctrl-C, SIGTERM or SIGHUP. */
export async function interruption(): Promise<void> {
  await Promise.race(
    (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)),
  );
}

async function revive(role: Role, progress: Progress): Promise<void> {
  for (let pause = 500; !role.isAlive(); pause = Math.min(pause * 2, 30_000)) {
    await delay(pause, undefined, { ref: false });
    try {
      await role.restart();
    } catch (error) {
      progress((error as Error).message);
    }
  }
}

type Change = "settings" | "sources";

/** Collects changes that come together, and works them off one after the other. */
function reloader(
  stack: Stack,
  progress: Progress,
  reconfigured: () => Promise<void>,
): (change: Change) => void {
  let waiting: Change | undefined;
  let timer: NodeJS.Timeout | undefined;
  let work: Promise<void> = Promise.resolve();
  const reload = async (): Promise<void> => {
    const change = waiting;
    waiting = undefined;
    if (change === undefined) return;
    try {
      // Also without a change of trustflow.toml: roles that were stopped would not start with one that they refuse.
      stack.reconfigure();
      await reconfigured();
      if (change === "sources") await rebuildPackage(progress);
      progress(`starting ${configured.join(", ")} again`);
      await Promise.all(configured.map((name) => stack.role(name).restart()));
      progress("reloaded");
    } catch (error) {
      const why =
        error instanceof ConfigurationError ? error.problems.join("; ") : (error as Error).message;
      progress(`not reloaded: ${why}`);
    }
  };
  return (change) => {
    if (waiting !== "sources") waiting = change;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(reload);
    }, 300);
    timer.unref();
  };
}

async function rebuildPackage(progress: Progress): Promise<void> {
  const script = join(packageDirectory, "scripts", "build.mjs");
  const { ok, output } = await run(process.execPath, [script], {
    timeoutMs: 300_000,
    doing: "building",
    progress,
  });
  if (!ok) throw new Error(output.trim());
}

function watchConfig(config: string, changed: () => void): FSWatcher {
  // The folder, because editors replace the file.
  return watch(dirname(config), (_event, name) => {
    if (name === basename(config)) changed();
  });
}

/** Only in a checkout; a published package has no sources. */
function watchSources(reload: (change: Change) => void): FSWatcher | undefined {
  const sources = join(packageDirectory, "src");
  if (!existsSync(sources)) return undefined;
  return watch(sources, { recursive: true }, (_event, name) => {
    if (name !== null && /\.(ts|js|cjs)$/.test(name)) reload("sources");
  });
}
