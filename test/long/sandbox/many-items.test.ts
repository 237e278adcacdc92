import { expect, test } from "vitest";
import { sixtyDays } from "../../../packages/sandbox/test/sixty-days.js";

test("thousands of items pass sixty days in seconds of processor time", async () => {
  const { ran, closed, seconds } = await sixtyDays(30);
  expect({ ran, closed }).toEqual({ ran: 21_000, closed: 3_000 });
  expect(seconds).toBeLessThan(30);
});
