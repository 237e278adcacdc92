// Many items at once that take sixty days to their end.
import { expect, test } from "vitest";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { call, DAY, post } from "../../../packages/sandbox/test/caller.js";

test("thousands of items pass sixty days in seconds of processor time", async () => {
  const sandbox = await startSandbox({ speed: "manual" });
  const before = process.cpuUsage();
  const RecipientName = "sandbox:delivered-after-60-days";
  for (let round = 0; round < 30; round += 1)
    await Promise.all(Array.from({ length: 100 }, () => post(sandbox.url, { RecipientName })));
  const { ran } = await sandbox.clock.advance(90 * DAY);
  const { body } = await call(sandbox.url, "/v1/EviPost/Query?OnState=Closed&Limit=1");
  const { user, system } = process.cpuUsage(before);
  await sandbox.close();
  expect({ ran, closed: Number(body.totalMatches) }).toEqual({ ran: 21_000, closed: 3_000 });
  expect((user + system) / 1_000_000).toBeLessThan(30);
});
