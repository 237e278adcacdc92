import { UnreachableError } from "../connection/unreachable-error.js";

/**
 * Workers take the workflow task of the process, and it keeps failing. The clean-up repairs it once; else it waits for a new release
 * (docs/operations/stuck.md). Call again later, an update with the same `updateId`.
 */
export class StuckError extends UnreachableError {
  static override readonly errorName = "StuckError";
  override readonly code = "stuck";

  constructor(id: string, updateId?: string) {
    super(
      `${id} is stuck: its workflow task keeps failing; see "trustflow list --stuck"`,
      updateId === undefined ? {} : { updateId },
    );
  }
}
