// A role started by the local stack ends with it: the IPC channel to the parent closes even when that one is killed.

const FORCE_AFTER_MS = 10_000;

/** Does nothing in a process that was started without an IPC channel. */
export function exitWithParent(): void {
  if (!process.connected) return;
  process.once("disconnect", () => {
    // Not process.exit: the SDK's native threads can keep that waiting for a server that is gone.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), FORCE_AFTER_MS);
    process.kill(process.pid, "SIGTERM");
  });
  process.channel?.unref();
}
