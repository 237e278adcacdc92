// A crowd of processes against a wrong password (DESIGN §5): the provider hears of them a few times a minute, not a
// thousand times, and all go on once it is mended.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { historyLength } from "../support/outage-inbox.js";
import { quietVariant, startMany, waitingCount } from "../support/outage-many.js";
import { eventually } from "../support/outage-wait.js";
import { sendPostalUnderTest } from "../support/process-under-test.js";
import { startTestStack } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";

/** The short form's size; the long form takes a thousand. */
const crowd = Number(process.env["OUTAGE_CROWD"] ?? 200);
const probeSeconds = 5;

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({
    env: {
      TRUSTFLOW_ATTENTION__PROBE_SECONDS: String(probeSeconds),
      TRUSTFLOW_ATTENTION__RETRY_SECONDS: String(Math.max(5, crowd / 40)),
      TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "500",
    },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

describe.each([sendPostalUnderTest])("$process", (process) => {
  const [first] = process.calls;

  /** Calls to the provider so far, by status. */
  async function calls(status: string): Promise<number> {
    const { requests } = await system.sandbox.state();
    const counts = Object.entries(requests).filter(([operation]) =>
      operation.startsWith(process.provider),
    );
    return counts.reduce((sum, [, byStatus]) => sum + (byStatus[status] ?? 0), 0);
  }

  test(`${crowd} processes against a wrong password make a handful of calls, and all go on when it is mended`, async () => {
    await system.sandbox.putAccount("sandbox", { password: "changed" });
    const began = Date.now();
    const ids = Array.from({ length: crowd }, (_, index) => `crowd-${index}`);
    const handles = await startMany(system, process, ids, await quietVariant(system));
    console.log("started", Date.now() - began);
    await eventually("all waiting", async () => (await waitingCount(system)) === crowd, 120_000);
    console.log("waiting", Date.now() - began, await calls("401"));
    const events = await Promise.all(
      handles.slice(0, 5).map(({ workflowId }) => historyLength(system, workflowId)),
    );
    const whenAllWaited = await calls("401");
    const waitedSince = Date.now();
    await eventually("three more probes", async () => (await calls("401")) >= whenAllWaited + 3);
    const allowed = 1 + (Date.now() - waitedSince) / (probeSeconds * 1_000);
    expect((await calls("401")) - whenAllWaited).toBeLessThanOrEqual(Math.ceil(allowed));
    expect(await calls("401")).toBeLessThan(25 + (Date.now() - began) / (probeSeconds * 1_000));
    expect(await calls("200")).toBe(0);
    expect(await waitingCount(system)).toBe(crowd);
    // Waiting leaves no trace.
    expect(
      await Promise.all(
        handles.slice(0, 5).map(({ workflowId }) => historyLength(system, workflowId)),
      ),
    ).toEqual(events);
    expect(Math.max(...events)).toBeLessThan(20);

    await system.sandbox.putAccount("sandbox", { password: "sandbox" });
    const mended = Date.now();
    const done = async () => {
      const s = await system.sandbox.state();
      console.log(
        Date.now() - mended,
        s.ledger,
        JSON.stringify(s.requests),
        await waitingCount(system),
      );
      await new Promise((r) => setTimeout(r, 1900));
      return s.ledger.effects === crowd;
    };
    await eventually("all submitted", done, 120_000);
    console.log("submitted", Date.now() - mended, first);
    await eventually("nobody waiting", async () => (await waitingCount(system)) === 0, 60_000);
    console.log("done", Date.now() - mended, await calls("401"));
    expect((await system.sandbox.state()).ledger).toEqual({
      effects: crowd,
      duplicates: 0,
      violations: 0,
    });
    console.log(
      await Promise.all(
        handles.slice(0, 5).map(({ workflowId }) => historyLength(system, workflowId)),
      ),
      events,
    );
  }, 300_000);
});
