// Many processes with a wrong password (docs/design.md §5): the provider gets a few calls a minute, not a thousand, and all
// processes continue once it is fixed.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startMany, waitingCount } from "../../harness/outages/many.js";
import { eventually } from "../../harness/outages/wait.js";
import { quietVariant, sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { sized } from "../../harness/stack/size.js";
import { historyLength, startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const crowd = sized(1_000, 100);
const LIMIT_MS = 30_000 + crowd * 300;
const PROBE_SECONDS = 3;
/** Calls that may be on their way before the first answer comes. */
const CONCURRENCY = 25;

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({
    env: {
      TRUSTFLOW_ATTENTION__PROBE_SECONDS: String(PROBE_SECONDS),
      TRUSTFLOW_ATTENTION__RETRY_SECONDS: String(Math.max(5, crowd / 40)),
      TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "500",
    },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** Calls to the provider so far, by status. */
async function calls(status: string): Promise<number> {
  const { requests } = await system.sandbox.state();
  return Object.values(requests).reduce((sum, byStatus) => sum + (byStatus[status] ?? 0), 0);
}

describe.each([sendPostalUnderTest])("$process", (underTest) => {
  const title = `${crowd} processes against a wrong password make a handful of calls, and all continue when it is fixed`;
  test(
    title,
    async () => {
      await system.sandbox.putAccount("sandbox", { password: "changed" });
      const began = Date.now();
      const ids = Array.from({ length: crowd }, (_, index) => `crowd-${index}`);
      const handles = await startMany(system, underTest, ids, await quietVariant(system));
      await eventually("all waiting", async () => (await waitingCount(system)) === crowd, LIMIT_MS);
      const lengths = () =>
        Promise.all(handles.slice(0, 5).map((one) => historyLength(system, one.workflowId)));
      const before = await lengths();
      const denied = await calls("401");
      const rested = Date.now();
      await eventually("more probes", async () => (await calls("401")) >= denied + 3, LIMIT_MS);
      const probes = (ms: number) => 1 + Math.ceil(ms / (PROBE_SECONDS * 1_000));
      expect((await calls("401")) - denied).toBeLessThanOrEqual(probes(Date.now() - rested));
      expect(await calls("401")).toBeLessThanOrEqual(CONCURRENCY + probes(Date.now() - began));
      expect(await calls("200")).toBe(0);
      expect(await waitingCount(system)).toBe(crowd);
      expect(await lengths()).toEqual(before);
      expect(Math.max(...before)).toBeLessThan(20);

      await system.sandbox.putAccount("sandbox", { password: "sandbox" });
      await eventually(
        "no process waiting",
        async () => (await waitingCount(system)) === 0,
        LIMIT_MS,
      );
      const { ledger } = await system.sandbox.state();
      expect(ledger).toEqual({ effects: crowd, duplicates: 0, violations: 0 });
      const phases = await Promise.all(handles.slice(0, 20).map((one) => one.status()));
      expect(new Set(phases.map(({ phase }) => phase))).toEqual(new Set(["tracking"]));
      expect(Math.max(...(await lengths()))).toBeLessThan(30);
    },
    3 * LIMIT_MS,
  );
});
