// Runs before each test file, in a process that other test files share.
import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, vi } from "vitest";
import { followNoPromises } from "./promise-hooks.js";
import { removeFolders } from "./temporary.js";

// The SDK's workflow modules take this class from the global object when they are loaded, as in a worker.
Object.assign(globalThis, { AsyncLocalStorage });

// Else the tests after a replay take twice as long.
followNoPromises();

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
