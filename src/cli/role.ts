// Runs a role as an operating-system process: ready line, graceful stop, end with the parent process, exit code.
import { exitWithParent } from "./parent-watch.js";
import { logLines, roleLogger, type RunningRole } from "../roles/role.js";
import { redact } from "../temporal/redaction.js";
import { exitCodes, failureOf } from "./output/exit.js";
import { writeJsonLine } from "./output/output.js";

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Above the 55 s after which a worker gives up what does not end. */
const LAST_RESORT_MS = 60_000;

/**
 * Starts the role, prints its ready line, and ends the process after a signal. A failure is a line of its log.
 * `lastResortMs`: how long a role that has failed may take to close. It may hold what never ends, such as a lent connection.
 */
export async function runRole(
  name: string,
  start: () => Promise<RunningRole>,
  lastResortMs = LAST_RESORT_MS,
): Promise<never> {
  exitWithParent();
  logWhatNodeSays(name);
  // These handlers stay: a second signal must not interrupt the graceful stop or change the exit code.
  const asked = new Promise<void>((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve());
  });
  try {
    const role = await start();
    const { url, details } = role;
    writeJsonLine({ ready: name, ...(url && { url }), ...details });
    try {
      await Promise.race([asked, ...(role.ended ? [role.ended] : [])]);
    } catch (error) {
      setTimeout(() => {
        logFailure(name, error);
        process.exit();
      }, lastResortMs).unref();
      throw error;
    } finally {
      role.health.end();
      await role.close();
    }
  } catch (error) {
    if (process.stderr.isTTY) throw error;
    logFailure(name, error);
  }
  // End explicitly: when Node runs out of work, it removes signal handlers first, and another signal would then kill the process.
  process.exit();
}

/** Also sets the exit code. */
function logFailure(name: string, error: unknown): void {
  const { exitCode, message } = failureOf(error);
  // Only our own message about an unreachable service is safe to log; any other message may quote secrets.
  const told = exitCode === exitCodes.unreachable ? { reason: message } : {};
  const { problem } = Object(error) as { problem?: unknown };
  const details = { ...redact({ error, problem }), ...told, exitCode };
  logLines(name, "ERROR").error(details, "the role failed");
  process.exitCode = exitCode;
}

/** Node writes warnings and uncaught errors to stderr as text, and their messages may quote secrets; log only their kind. */
function logWhatNodeSays(name: string): void {
  const log = roleLogger(name, "WARN");
  process.removeAllListeners("warning");
  process.on("warning", ({ name: kind, code }: NodeJS.ErrnoException) => {
    log.warn("Node.js warning", { kind, code });
  });
  process.on("uncaughtException", (error) => {
    const [, at] = /\n {4}at (.*)/.exec(error.stack?.replace(error.message, "") ?? "") ?? [];
    logLines(name, "ERROR").error({ ...redact({ error }), at }, "uncaught");
    process.exit(exitCodes.failed);
  });
}
