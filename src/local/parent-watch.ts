// A role started by the local stack ends with it: the IPC channel to the parent closes even when that one is killed.

const FORCE_AFTER_MS = 10_000;

/** Does nothing in a process that was started without an IPC channel. */
export function exitWithParent(): void {
  if (!process.connected) return;
  process.once("disconnect", () => {
    setTimeout(() => process.exit(1), FORCE_AFTER_MS).unref();
    process.kill(process.pid, "SIGTERM");
  });
  process.channel?.unref();
}
