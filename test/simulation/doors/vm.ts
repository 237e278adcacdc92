// What the SDK and Node do around each promise and each entry into a workflow, without what costs much where all programs share a thread, and
// shows nothing here.
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { followNoPromises } from "../../harness/promise-hooks.js";

const require = createRequire(import.meta.url);

function withoutTimeLimit(): void {
  const { Script } = require("node:vm") as typeof import("node:vm");
  const { runInContext } = Script.prototype;
  /** Node starts a thread for each time limit; without one for debugging, the SDK sets 49 days. */
  const LONGEST_MS = 86_400_000;
  Script.prototype.runInContext = function run(context, options = {}): unknown {
    const { timeout = Infinity, ...others } = options as { timeout?: number };
    return runInContext.call(this, context, timeout < LONGEST_MS ? options : others);
  };
}

/** A worker in production saves memory by collecting garbage early. */
function withoutEarlyCollection(): void {
  const v8 = require("node:v8") as typeof import("node:v8");
  Object.assign(v8, { setFlagsFromString: () => undefined });
}

interface Scope {
  of: WorkflowStorage;
  store: unknown;
  outer: Scope | undefined;
}

/** Each workflow in the cache has a few storages, and Node 20 would carry each of them over to each promise of every program. */
const scopes = new AsyncLocalStorage<Scope>();

class WorkflowStorage {
  #isDisabled = false;

  run<R>(store: unknown, work: (...args: unknown[]) => R, ...args: unknown[]): R {
    this.#isDisabled = false;
    return scopes.run({ of: this, store, outer: scopes.getStore() }, work, ...args);
  }

  getStore(): unknown {
    for (let at = scopes.getStore(); at && !this.#isDisabled; at = at.outer)
      if (at.of === this) return at.store;
    return undefined;
  }

  disable(): void {
    this.#isDisabled = true;
  }
}

/** What is injected into a workflow extends the class that Node has at that time. Node 24 has a cheap one, and lets nobody replace it. */
function withOneStorage(): void {
  const shared = require("@temporalio/worker/lib/workflow/vm-shared.js") as {
    injectGlobals(context: object): void;
  };
  const hooks = require("node:async_hooks") as { AsyncLocalStorage: unknown };
  if (!Object.getOwnPropertyDescriptor(hooks, "AsyncLocalStorage")?.writable) return;
  const { injectGlobals } = shared;
  shared.injectGlobals = (context) => {
    const native = hooks.AsyncLocalStorage;
    hooks.AsyncLocalStorage = WorkflowStorage;
    injectGlobals(context);
    hooks.AsyncLocalStorage = native;
  };
}

/** For all workers of this process; once. */
export function lightenWorkflows(): void {
  withoutTimeLimit();
  withoutEarlyCollection();
  followNoPromises();
  withOneStorage();
  syncBuiltinESMExports();
}
