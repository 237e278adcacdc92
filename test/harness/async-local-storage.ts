// The SDK's workflow modules take this class from the global object when they are loaded, as in a worker.
import { AsyncLocalStorage } from "node:async_hooks";

Object.assign(globalThis, { AsyncLocalStorage });
