// Runs external tools: checks that a tool exists and works, with a time limit.
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { killOnExit } from "./watchdog.js";

/** Receives lines for a person, on stderr. */
export type Progress = (line: string) => void;

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  timeoutMs: number;
  /** Said at once and then every five seconds with the elapsed time. */
  doing?: string;
  progress?: Progress;
}

/** Runs to the end; the output only serves messages. */
export async function run(
  command: string,
  args: string[],
  options: RunOptions,
): Promise<{ ok: boolean; output: string }> {
  const started = Date.now();
  const { cwd, env, uid, gid } = options;
  const child = spawn(command, args, {
    detached: true,
    cwd,
    env,
    uid,
    gid,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (chunk: Buffer): void =>
    void (output = (output + chunk.toString()).slice(-20_000));
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  };
  const unregister = child.pid === undefined ? undefined : killOnExit(-child.pid, "SIGKILL");
  const timer = setTimeout(killGroup, options.timeoutMs);
  const say = (): void => {
    if (options.doing)
      options.progress?.(`${options.doing} (${Math.round((Date.now() - started) / 1000)} s)`);
  };
  say();
  const ticker = setInterval(say, 5_000);
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.once("error", (error) => {
        output += error.message;
        resolve(null);
      });
      child.once("close", resolve);
    });
    return { ok: code === 0, output };
  } finally {
    clearTimeout(timer);
    clearInterval(ticker);
    unregister?.();
  }
}

/** The first program of that name on PATH that `accept` likes. */
export async function findOnPath(
  name: string,
  accept: (path: string) => Promise<boolean> = async () => true,
  extra: string[] = [],
): Promise<string | undefined> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...extra].filter(Boolean);
  for (const folder of folders) {
    const path = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    if ((await isExecutable(path)) && (await accept(path))) return path;
  }
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
