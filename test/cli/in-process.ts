// Runs `trustflow` within the test, where what it prints is the matter and not the process around it: a start of its own takes most of a
// second of a core.
import { vi } from "vitest";
import { runCommandLine } from "../../src/cli/program.js";
import type { Ended } from "./run.js";

/** One after the other, because it hears all that the process prints meanwhile. `env`: in the place of the process's own. */
export async function commandLine(
  args: string[],
  { env }: { env?: Record<string, string> } = {},
): Promise<Ended> {
  const own = process.env;
  if (env) process.env = { TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env };
  // The code that a command before has left.
  process.exitCode = undefined;
  const said = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    const code = await runCommandLine(args);
    return { code, ...said };
  } finally {
    process.exitCode = undefined;
    process.env = own;
    for (const spy of spies) spy.mockRestore();
  }
}
