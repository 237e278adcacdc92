// The pauses between the attempts at a webhook (docs/webhooks.md).
import { expect, test } from "vitest";
import { pauseAfter } from "../../src/webhooks/webhooks.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The pauses after each attempt, when the endpoint asks each time for this long. */
const pauses = (askedMs: number, random = 0) =>
  Array.from({ length: 10 }, (_, index) => pauseAfter(index + 1, { askedMs, random }));

test("what an endpoint asks for makes a pause longer, never shorter, and never longer than 12 hours", () => {
  const planned = pauses(0);
  expect(planned).toEqual([
    5_000,
    300_000,
    1_800_000,
    ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
    undefined,
  ]);
  expect(pauses(1)).toEqual(planned);
  expect(pauses(HOUR_MS)).toEqual([HOUR_MS, HOUR_MS, HOUR_MS, ...planned.slice(3)]);
  expect(pauses(DAY_MS).slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 12 * HOUR_MS));
});

test("ten attempts end before the event of a waiting delivery is removed, seven days after it was made", () => {
  const total = pauses(Infinity, 1).reduce<number>((sum, pause = 0) => sum + pause, 0);
  expect(total).toBeLessThan(6 * DAY_MS);
});
