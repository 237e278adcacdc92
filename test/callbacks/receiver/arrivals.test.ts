// A deadlock between two receivers is tried again after a growing wait, five times at the most; what the database says nothing about is not
// acknowledged.
import { expect, test, vi } from "vitest";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { sealRing, subjectOf } from "../support.js";

const deadlock = Object.assign(new Error("deadlock"), { code: "40P01" });
const other = Object.assign(new Error("no connection"), { code: "08006" });

test.each([
  [4, deadlock, ["stored", "full"], 5, 740],
  [5, deadlock, deadlock, 5, 740],
  [1, other, other, 1, 0],
])("%i times %s", async (failures, error, expected, tries, leastMs) => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const began = performance.now();
  let made = 0;
  const query = async () => {
    made += 1;
    if (made <= failures) throw error;
    return { rows: [{ verdicts: ["stored"] }] };
  };
  const arrivals = new Arrivals({ query } as never, sealRing);
  const arrival = { subject: subjectOf(), address: "a", identifier: "e-1", body: Buffer.from("1") };
  const answer = await arrivals
    .insert([arrival, arrival], 1_000)
    .catch((thrown: unknown) => thrown);
  expect([answer, made]).toEqual([expected, tries]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(leastMs);
});
