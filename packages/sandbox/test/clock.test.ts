import { expect, test } from "vitest";
import fc from "fast-check";
import { Clock } from "../src/engine/clock.js";

test("what is scheduled runs in the order of its time, and of one instant in the order of scheduling", async () => {
  const instant = fc.integer({ min: 0, max: 50 });
  await fc.assert(
    fc.asyncProperty(fc.array(instant), async (instants) => {
      const clock = new Clock(0, "manual");
      const ran: { at: number; index: number }[] = [];
      clock.on("note", (index: number, at) => void ran.push({ at, index }));
      clock.start();
      for (const [index, at] of instants.entries()) clock.schedule(at, "note", index);
      expect(clock.pending).toBe(instants.length);
      await clock.advance(50);
      const wanted = instants.map((at, index) => ({ at, index }));
      expect(ran).toEqual(wanted.toSorted((a, b) => a.at - b.at));
      await clock.stop();
    }),
  );
});

test("a manual clock is stopped, and an advance runs due entries in order, new entries included", async () => {
  const clock = new Clock(1000, "manual");
  const ran: string[] = [];
  clock.on("note", (name: string, at) => {
    ran.push(`${name}@${at}/${clock.now()}`);
    if (name === "b") clock.schedule(at + 5, "note", "b2");
  });
  clock.start();
  clock.schedule(1030, "note", "c");
  clock.schedule(1010, "note", "a");
  clock.schedule(1010, "note", "b");
  clock.schedule(2000, "note", "later");
  expect(await clock.advance(100)).toEqual({ now: 1100, ran: 4 });
  expect(ran).toEqual(["a@1010/1010", "b@1010/1010", "b2@1015/1015", "c@1030/1030"]);
  expect(clock.now()).toBe(1100);
  await clock.stop();
});

test("an advance waits for what it started, and two advances follow each other", async () => {
  const clock = new Clock(0, "manual");
  const ran: number[] = [];
  clock.on("slow", async (_data: null, at) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    ran.push(at);
  });
  clock.start();
  clock.schedule(10, "slow", null);
  clock.schedule(20, "slow", null);
  const [first, second] = await Promise.all([clock.advance(15), clock.advance(15)]);
  expect([first.now, second.now]).toEqual([15, 30]);
  expect(ran).toEqual([10, 20]);
  await clock.stop();
});

test("with a speed, a day passes in milliseconds, and entries run at their own time", async () => {
  const clock = new Clock(0, 864_000);
  const times: number[] = [];
  const done = new Promise<void>((resolve) => {
    clock.on("tick", (left: number, at) => {
      times.push(at);
      if (left === 0) resolve();
      else clock.schedule(at + 3_600_000, "tick", left - 1);
    });
  });
  clock.start();
  clock.schedule(3_600_000, "tick", 23);
  await done;
  expect(times.at(-1)).toBe(86_400_000);
  await clock.stop();
});
