// The time limit of a call.
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectGarbage } from "../../harness/collect-garbage.js";
import { timeLimit } from "../../../src/activities/runtime/time-limit.js";

test("it ends the call, also after a garbage collection", async () => {
  const { signal } = timeLimit(300, new AbortController().signal);
  await nextTurn();
  collectGarbage();
  await once(signal, "abort");
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("another signal ends the call before, and a call that is over leaves no timer", () => {
  const other = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const { signal, clear } = timeLimit(60_000, other.signal);
  other.abort(new Error("the worker stops"));
  expect(signal.reason).toMatchObject({ message: "the worker stops" });
  clear();
  expect(timers()).toBe(before);
});
