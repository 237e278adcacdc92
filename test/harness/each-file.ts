// Runs before each test file, in a process that other test files share.
import { AsyncLocalStorage } from "node:async_hooks";
import v8 from "node:v8";
import { afterAll, vi } from "vitest";
import { removeFolders } from "./temporary.js";

// The SDK's workflow modules take this class from the global object when they are loaded, as in a worker.
Object.assign(globalThis, { AsyncLocalStorage });

// The SDK follows each promise of a process that has replayed, for stack traces that no test reads: the tests after it took twice as long.
const promiseHooks = { ...v8.promiseHooks, createHook: () => () => undefined };
Object.assign(v8, { promiseHooks });

const before = { ...process.env };
const folder = process.cwd();
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.env = before;
  process.exitCode = undefined;
  // A command that ran out of its time is still in a folder of its own.
  process.chdir(folder);
  return removeFolders();
});
