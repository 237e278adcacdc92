// One role of the stack: `trustflow <role>` as a child process that is ready when it prints its JSON line.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, type Exit, logSize, logTail, startChild } from "../processes/child.js";
import { cliPath } from "../paths.js";

const READY_LIMIT_MS = 60_000;

export const roleNames = ["sandbox", "codec-server", "receiver", "relay", "worker"] as const;
export type RoleName = (typeof roleNames)[number];

export interface RoleOptions {
  name: RoleName;
  /** The command line of another build than that of the package. */
  program?: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  logDirectory: string;
  graceMs: number;
  /** Called when the role ended unexpectedly. */
  onDeath: (role: Role, exit: Exit) => void;
}

export interface Role {
  readonly name: RoleName;
  readonly pid: number;
  readonly url: string | undefined;
  isAlive(): boolean;
  /** Waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
  /** Stops it if it runs, then starts it and waits until it is ready. */
  restart(): Promise<void>;
}

export async function startRole(options: RoleOptions): Promise<Role> {
  let expected = false;
  let child: Child;
  let url: string | undefined;

  const start = async (): Promise<void> => {
    expected = false;
    const started = await startReady(options);
    child = started.child;
    url = started.url;
    void started.child.exited.then((exit) => {
      if (!expected && child === started.child) options.onDeath(role, exit);
    });
  };
  const stop = async (): Promise<void> => {
    expected = true;
    await child.stop(options.graceMs);
  };
  const role: Role = {
    name: options.name,
    get pid() {
      return child.pid;
    },
    get url() {
      return url;
    },
    isAlive: () => child.isAlive(),
    async kill(signal = "SIGKILL") {
      expected = true;
      child.kill(signal);
      await child.exited;
    },
    stop,
    async restart() {
      await stop();
      await start();
    },
  };
  await start();
  return role;
}

/** Starts the process and waits until it is ready. */
async function startReady(
  options: RoleOptions,
): Promise<{ child: Child; url: string | undefined }> {
  const { name, program = cliPath, args = [], env, cwd, logDirectory } = options;
  const logFile = join(logDirectory, `${name}.log`);
  const logged = await logSize(logFile);
  let announce: (url: string | undefined) => void = () => {};
  const announced = new Promise<string | undefined>((resolve) => (announce = resolve));
  const child = await startChild({
    command: process.execPath,
    args: [program, name, ...args],
    ...{ env, cwd, logFile, ipc: true },
    onLine: (line) => {
      const message = parse(line);
      if (message?.["ready"] === name) announce(message["url"] as string | undefined);
    },
  });
  const giveUp = new AbortController();
  const outcome = await Promise.race([
    announced.then((url) => ({ url })),
    child.exited.then(({ code, signal }) => `it ended with ${signal ?? code}`),
    delay(READY_LIMIT_MS, "it did not report that it is ready", { signal: giveUp.signal }).catch(
      () => "",
    ),
  ]);
  giveUp.abort();
  if (typeof outcome !== "string") return { child, ...outcome };
  await child.stop(1_000);
  throw new Error(
    `${name} did not start: ${outcome}; end of ${logFile}:\n${await logTail(logFile, logged)}`,
  );
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
