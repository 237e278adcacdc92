// Mixed load of all processes on the virtual clock: afterwards nothing is left open, and every effect happened once.
// `npm run verify` runs twelve seconds of each mix: four days of those that take weeks.
import { expect, test } from "@jest/globals";
import { sized } from "../../harness/stack/size.js";
import { startTestStack } from "../../harness/stack/stack.js";
import { mixes, runMixedLoad } from "../../harness/storms/mix.js";

const seconds = sized(120, 12);

test.each(mixes)(
  "of $of leaves no open handle, no growing table and no stuck process",
  async (mix) => {
    const system = await startTestStack({ sandboxSpeed: mix.speed });
    try {
      const report = await runMixedLoad(system, mix, { seconds, perSecond: 3 });
      expect(report.problems).toEqual([]);
      expect(report.virtualSeconds).toBeGreaterThan(seconds * mix.speed * 0.9);
      expect(report.started).toBeGreaterThan(30);
    } finally {
      await system.close();
    }
  },
  seconds * 1_000 + 600_000,
);
