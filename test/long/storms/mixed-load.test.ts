// Mixed load on the virtual clock: afterwards nothing is left open, and every effect happened once. An hour of it passes in
// two minutes; `npm run verify` runs twelve seconds.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { sized } from "../../harness/stack/size.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { runMixedLoad } from "../../harness/storms/mix.js";

let system: TestStack;
beforeAll(async () => {
  system = await startTestStack();
}, 120_000);
afterAll(() => system.close(), 60_000);

const seconds = sized(120, 12);

test(
  "leaves no open handle, no growing table and no stuck process",
  async () => {
    const report = await runMixedLoad(system, sendPostalUnderTest, {
      seconds,
      perSecond: 3,
    });
    expect(report.problems).toEqual([]);
    expect(report.virtualHours).toBeGreaterThan(1);
    expect(report.started).toBeGreaterThan(30);
  },
  seconds * 1_000 + 180_000,
);
