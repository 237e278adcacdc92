// Runs `trustflow` within the test, where what it prints is the matter and not the process around it: a start of its own takes most of a
// second of a core.
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { vi } from "vitest";
import { runCommandLine } from "../../src/cli/program.js";
import type { Ended, RunOptions } from "./run.js";

/**
 * One after the other, because it hears all that the process prints meanwhile. By default it has no variable of the environment, and a
 * folder without a configuration.
 */
export async function commandLine(
  args: string[],
  { env = {}, cwd = tmpdir(), stdin = "" }: RunOptions = {},
): Promise<Ended> {
  const own = { env: process.env, cwd: process.cwd() };
  process.env = { TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env };
  process.chdir(cwd);
  // The code that a command before has left.
  process.exitCode = undefined;
  const said = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  const given = vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([stdin]) as never);
  try {
    const code = await runCommandLine(args);
    return { code, ...said };
  } finally {
    process.exitCode = undefined;
    process.env = own.env;
    process.chdir(own.cwd);
    given.mockRestore();
    for (const spy of spies) spy.mockRestore();
  }
}
