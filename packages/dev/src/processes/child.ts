// Runs one child process that logs to a file, ends with us, and is stopped gracefully with a deadline.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { killOnExit } from "./watchdog.js";

export interface ChildOptions {
  command: string;
  args: string[];
  logFile: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  stopSignal?: NodeJS.Signals;
  /** Gives the child an IPC channel (see parent-watch.ts). */
  ipc?: boolean;
  /** Called for each line on stdout; otherwise stdout goes to the log as well. */
  onLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  isAlive(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, later SIGKILL; resolves when the process has ended. */
  stop(graceMs?: number): Promise<void>;
}

/** In a process group of its own, so that Ctrl-C reaches only the one who stops the others in order. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, env, cwd, uid, gid, stopSignal = "SIGTERM" } = options;
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      detached: true,
      stdio: [
        "ignore",
        options.onLine ? "pipe" : log,
        log,
        ...(options.ipc ? ["ipc" as const] : []),
      ],
      env,
      cwd,
      uid,
      gid,
    });
  } finally {
    closeSync(log);
  }
  await once(child, "spawn");
  const pid = child.pid as number;
  const unregister = killOnExit(pid, stopSignal);
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      unregister();
      resolve({ code, signal });
    });
  });
  if (options.onLine && child.stdout) {
    createInterface({ input: child.stdout }).on("line", options.onLine);
  }
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    exited,
    isAlive,
    kill: (signal) => void child.kill(signal),
    async stop(graceMs = 10_000) {
      if (!isAlive()) return;
      child.kill(stopSignal);
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

export async function logSize(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
}

/** The end of a log from this byte on, for the message of a start that failed. */
export async function logTail(file: string, from = 0, lines = 8): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(from).toString().trimEnd().split("\n").slice(-lines).join("\n");
}
