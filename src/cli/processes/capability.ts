// What one kind of process takes and another does not, found by what its handle can do.
import type { AnyHandle } from "../../client.js";
import { CommandError, exitCodes } from "../output/exit.js";

export type HandleWith<M extends string> = Extract<AnyHandle, Record<M, unknown>>;

export function hasCapability<M extends string>(
  handle: AnyHandle,
  method: M,
): handle is HandleWith<M> {
  return method in handle;
}

/** The handle as one that can do it; `what` says what the command would have brought. */
export function requireCapability<M extends string>(
  handle: AnyHandle,
  method: M,
  what: string,
): HandleWith<M> {
  if (hasCapability(handle, method)) return handle;
  throw new CommandError(exitCodes.invalid, `${handle.workflowId} takes no ${what}`);
}
