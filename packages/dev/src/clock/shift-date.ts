// Preloaded into a role of a system with a virtual clock (`node --import`): `Date` is that of the clock, and `performance` moves on with
// it. Production code knows nothing of it.
import { TimeLine } from "./time-line.js";

export const timeLine = new TimeLine(process.env["VIRTUAL_CLOCK_FILE"] ?? "");

/** Of timers and processor time, which stay real, and of what Temporal says. */
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [timeLine.now()] : args, newTarget) as Date,
  apply: () => new Date().toString(),
  get: (target, name) => (name === "now" ? () => timeLine.now() : Reflect.get(target, name)),
});

const realElapsed = performance.now.bind(performance);
const begin = timeLine.now();
performance.now = () => realElapsed() + timeLine.now() - begin;
