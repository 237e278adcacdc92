// Runs `trustflow` as a process of its own, as a shell would: no terminal, and an environment that names nothing by itself.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";

export const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  /** The file of another release's command line. */
  program?: string;
}

export async function trustflow(args: string[], options: RunOptions = {}): Promise<Ended> {
  const child = start(args, options);
  child.stdin?.end(options.stdin ?? "");
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** For a role: the caller stops it. */
export function start(
  args: string[],
  { env = {}, cwd = tmpdir(), program = cli }: RunOptions = {},
): ChildProcess {
  const { PATH = "", HOME = "" } = process.env;
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH, HOME, TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** The first line of its stdout, as JSON. */
export async function readyLine(child: ChildProcess): Promise<Record<string, unknown>> {
  let said = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    said += chunk.toString();
    if (said.includes("\n")) break;
  }
  return JSON.parse(said) as Record<string, unknown>;
}
