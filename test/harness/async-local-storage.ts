// The SDK's workflow modules take this class from the global object when they are loaded, as in a worker.
import { AsyncLocalStorage } from "node:async_hooks";

Object.assign(globalThis, { AsyncLocalStorage });

/** Those that test files of this process have used, kept at the class, which all test files of a process share. */
const used = Symbol.for("trustflow.usedStorages");
const shared = AsyncLocalStorage as unknown as Record<
  symbol,
  Set<AsyncLocalStorage<unknown>> | undefined
>;

/** Node 20 goes through every storage that was ever used at every promise: those of test files before this one end here. */
for (const storage of shared[used] ?? []) storage.disable();

if (shared[used] === undefined) {
  const { run, enterWith } = AsyncLocalStorage.prototype;
  const note = (storage: AsyncLocalStorage<unknown>) => shared[used]?.add(storage);
  Object.assign(AsyncLocalStorage.prototype, {
    run(this: AsyncLocalStorage<unknown>, ...args: Parameters<typeof run>) {
      note(this);
      return run.apply(this, args);
    },
    enterWith(this: AsyncLocalStorage<unknown>, store: unknown) {
      note(this);
      enterWith.call(this, store);
    },
  });
}
shared[used] = new Set();
