// The pace of the reads of a batch's notices: a burst of one second, and then so many a second.
import { expect, test } from "vitest";
import { Pace } from "../../../src/activities/evi-notice-batch/context.js";
import { inAttempt } from "../attempts.js";

test("in any second there are no more than the rate and its burst", () => {
  let now = 0;
  const pace = new Pace(10, () => now);
  const waits = Array.from({ length: 30 }, () => pace.take());
  expect(waits.filter((ms) => ms === 0)).toHaveLength(10);
  expect(waits.at(-1)).toBeCloseTo(2_000);
  now = 60_000;
  const later = Array.from({ length: 20 }, () => pace.take());
  expect(later.filter((ms) => ms === 0)).toHaveLength(10);
});

test("the first error begins no further call", async () => {
  let begun = 0;
  const reading = inAttempt(() =>
    new Pace(100_000).all(Array.from({ length: 100 }), async () => {
      begun += 1;
      throw new Error("away");
    }),
  );
  await expect(reading).rejects.toThrow("away");
  expect(begun).toBeLessThanOrEqual(16);
});
