// Preloaded into a role of a system with a virtual clock (`node --import`): `Date` is the clock's, and `performance` moves on with it. What
// the role runs knows nothing of it.
import { isMainThread } from "node:worker_threads";
import { TimeLine } from "./time-line.js";

const { VIRTUAL_CLOCK_FILE: file, TRUSTFLOW_ENVIRONMENT: environment } = process.env;
if (file === undefined || environment !== "sandbox")
  throw new Error("a virtual clock is for tests: it runs with the sandbox alone");

export const timeLine = new TimeLine(file);

// The threads run workflows alone, whose time comes from Temporal (virtual-worker.ts).
if (isMainThread) {
  const now = () => timeLine.now();
  globalThis.Date = new Proxy(Date, {
    construct: (target, given: [], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
    apply: () => new Date().toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  const elapsed = performance.now.bind(performance);
  const begin = now();
  performance.now = () => elapsed() + now() - begin;
}
