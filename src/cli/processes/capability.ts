// Checks whether a process accepts an update, by the methods of its handle.
import type { AnyHandle } from "../../client.js";
import { CommandError, exitCodes } from "../output/exit.js";

export type HandleWith<M extends string> = Extract<AnyHandle, Record<M, unknown>>;

export function hasCapability<M extends string>(
  handle: AnyHandle,
  method: M,
): handle is HandleWith<M> {
  return method in handle;
}

/** Returns the handle typed with the method, or throws a usage error; `what` names the update in the error. */
export function requireCapability<M extends string>(
  handle: AnyHandle,
  method: M,
  what: string,
): HandleWith<M> {
  if (hasCapability(handle, method)) return handle;
  throw new CommandError(exitCodes.invalid, `${handle.workflowId} accepts no ${what}`);
}
