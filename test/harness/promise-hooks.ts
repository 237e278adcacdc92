// The SDK follows each promise of a process that runs or replays workflows on its main thread, for stack traces that no test reads, and
// never stops: from then on it compiles a function for each promise.
import v8 from "node:v8";

/** Before the first workflow of this process. */
export function followNoPromises(): void {
  // Node itself has the other object.
  const promiseHooks = { ...v8.promiseHooks, createHook: () => () => undefined };
  Object.assign(v8, { promiseHooks });
}
