// The arithmetic of the benchmark's report; nothing here is timed.
import { expect, test } from "vitest";
import { alone, atLeast, atMost, compared, table } from "../../bench/measure.js";
import { cpuMs } from "../../bench/proc.js";
import { meanParts, ratioSpread, spreadOf } from "../../bench/spread.js";

test("the median of an even number of rounds lies between the two in the middle", () => {
  expect(spreadOf([4, 1, 3, 10])).toEqual({ median: 3.5, min: 1, max: 10, rounds: 4 });
  expect(() => spreadOf([])).toThrow("no rounds");
});

test("a ratio is taken in each round, not of the medians", () => {
  const rounds = [
    { floor: 100, trustflow: 110 },
    { floor: 200, trustflow: 200 },
    { floor: 50, trustflow: 60 },
  ];
  expect(ratioSpread(rounds)).toEqual({ median: 1.1, min: 1, max: 1.2, rounds: 3 });
});

test("parts are means over rounds", () => {
  expect(
    meanParts([
      { server: 1, worker: 2 },
      { server: 3, worker: 4 },
    ]),
  ).toEqual({
    server: 2,
    worker: 3,
  });
});

test("a goal is met by the ratio or by the value, up to its limit", () => {
  const rounds = [{ floor: 100, trustflow: 120 }];
  expect(compared({ name: "a", unit: "ms", goal: atMost(1.2, "ratio") }, rounds).met).toBe(true);
  expect(compared({ name: "a", unit: "ms", goal: atMost(119, "value") }, rounds).met).toBe(false);
  expect(alone({ name: "a", unit: "ms", goal: atLeast(3, "value") }, [2, 4]).met).toBe(true);
  expect(alone({ name: "a", unit: "ms" }, [2])).not.toHaveProperty("met");
});

test("the table says what was missed", () => {
  const about = { name: "rate", unit: "a second", goal: atLeast(1, "ratio") };
  const measure = compared(about, [
    { floor: 10, trustflow: 9 },
    { floor: 10, trustflow: 8 },
  ]);
  expect(table([measure]).split("\n")[2]).toBe(
    "| rate | a second | 10 | 8.50 | 0.85 (0.80–0.90) | ratio ≥ 1 | **no** |",
  );
});

const onLinux = process.platform === "linux" ? test : test.skip;
onLinux("CPU time is read of a process, and is nothing for one that is gone", () => {
  expect(cpuMs(process.pid)).toBeGreaterThan(0);
  expect(cpuMs(2 ** 30)).toBe(0);
});
