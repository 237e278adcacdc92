// Mixed load on the virtual clock: afterwards nothing is left open, and every effect happened once. The long form is
// `npm run storm`.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sendPostalUnderTest } from "../support/process-under-test.js";
import { startTestStack } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";
import { runMixedLoad } from "../support/storm-mix.js";

let system: TestStack;
beforeAll(async () => {
  system = await startTestStack();
}, 120_000);
afterAll(() => system.close(), 60_000);

test("leaves no open handle, no growing table and no stuck process", async () => {
  const report = await runMixedLoad(system, sendPostalUnderTest, { seconds: 12, perSecond: 3 });
  expect(report.problems).toEqual([]);
  expect(report.virtualHours).toBeGreaterThan(1);
  expect(report.started).toBeGreaterThan(30);
}, 180_000);
