// A role as a process: ready line, graceful stop, end with its parent, exit code.
import { exitWithParent } from "../local/processes/parent-watch.js";
import { logLines, roleLogger, type RunningRole } from "../roles/role.js";
import { redact } from "../temporal/redaction.js";
import { exitCodes, failureOf } from "./output/exit.js";
import { writeJsonLine } from "./output/output.js";

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Starts the role, says so on stdout, and ends the process once a signal has stopped it; a failure is a line of its log. */
export async function runRole(name: string, start: () => Promise<RunningRole>): Promise<never> {
  exitWithParent();
  logWhatNodeSays(name);
  // For good: a second signal must neither cut short what the first one lets finish, nor change the exit code.
  const asked = new Promise<void>((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve());
  });
  try {
    const role = await start();
    const { url, details } = role;
    writeJsonLine({ ready: name, ...(url && { url }), ...details });
    try {
      await Promise.race([asked, ...(role.ended ? [role.ended] : [])]);
    } finally {
      role.health.end();
      await role.close();
    }
  } catch (error) {
    if (process.stderr.isTTY) throw error;
    const { exitCode, message } = failureOf(error);
    // What is out of reach is said in our own words; any other message may quote anything.
    const told = exitCode === exitCodes.unreachable ? { reason: message } : {};
    logLines(name, "ERROR").error(
      { ...redact({ error }), ...told, exitCode },
      "the role has failed",
    );
    process.exitCode = exitCode;
  }
  // At once: a process that runs out of work forgets its signal handlers first, and one more signal would be its end.
  process.exit();
}

/** Node writes warnings and uncaught errors to stderr as text, with messages that may quote anything. */
function logWhatNodeSays(name: string): void {
  const log = roleLogger(name, "WARN");
  process.removeAllListeners("warning");
  process.on("warning", ({ name: kind, code }: NodeJS.ErrnoException) => {
    log.warn("a warning of Node", { kind, code });
  });
  process.on("uncaughtException", (error) => {
    const [, at] = /\n {4}at (.*)/.exec(error.stack?.replace(error.message, "") ?? "") ?? [];
    logLines(name, "ERROR").error({ ...redact({ error }), at }, "uncaught");
    process.exit(exitCodes.failed);
  });
}
