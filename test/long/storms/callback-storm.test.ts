// Ten thousand callbacks at once, with everything the world puts among them, while receiver, relay and worker are killed in
// turn: what was acknowledged is applied once, and nothing else is (docs/design.md §1.3, §7).
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { calledBack } from "../../processes/index.js";
import { holdInbox, inboxSettled, landed } from "../../harness/stack/inbox.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { Postings } from "../../harness/storms/postings.js";
import { duplicatesOf, runStorm } from "../../harness/storms/run.js";
import { stormEnv } from "../../harness/storms/script.js";
import { quantile, send } from "../../harness/storms/sender.js";

describe.each(calledBack)("$process", (underTest) => {
  let system: TestStack;

  beforeAll(async () => {
    system = await startTestStack({ env: stormEnv });
  }, 120_000);

  afterAll(() => system?.close(), 60_000);

  test("acknowledged is applied once, late or parked; forged is 404; memory stays bounded", async () => {
    const load = { callbacks: 10_000, connections: 256 };
    const report = await runStorm(system, underTest, load);
    expect(report).toMatchObject({
      callbacks: 10_000,
      lost: [],
      twice: [],
      foreign: [],
      unacknowledged: 0,
      settled: true,
      wrongEffects: [],
    });
    expect(Object.keys(report.fates).toSorted()).toEqual(["delivered", "late", "unknownProcess"]);
    const { genuine, forged, malformed, oversized } = report.answers;
    expect(Object.keys(genuine)).toEqual(["204"]);
    expect(Object.keys(forged)).toEqual(["404"]);
    expect(Object.keys(malformed)).toEqual(["400"]);
    // 0: cut while it was still writing, or killed.
    for (const status of Object.keys(oversized)) expect(["413", "0"]).toContain(status);
    for (const status of report.slow.complete) expect([204, 0]).toContain(status);
    for (const status of report.slow.incomplete) expect([408, 0]).toContain(status);
    for (const status of report.slow.forged) expect([404, 0]).toContain(status);
    expect(report.memoryPeaks.receiver ?? 0).toBeLessThan(300);
    expect(report.memoryPeaks.relay ?? 0).toBeLessThan(300);
    expect(report.memoryPeaks.worker ?? 0).toBeLessThan(600);
    expect(report.kills.flatMap(({ reached }) => reached ?? [])).toEqual([true, true]);
    expect(report.kills.filter(({ at }) => at < 1)).toHaveLength(9);
  }, 240_000);

  test("beyond its capacity the receiver says 503 at once, and keeps what it took", async () => {
    const postings = new Postings(system, underTest);
    // One address alone takes half of the places.
    const callbacks = ["open-6", "open-7"].flatMap((id) => postings.genuine(id, 300));
    const release = await holdInbox(system);
    const sending = send(callbacks, { connections: 600, attempts: 1 });
    const refused = () => sending.latencies.get(503) ?? [];
    try {
      for (const end = Date.now() + 4_000; refused().length < 344 && Date.now() < end;)
        await delay(20);
      // While nothing can be stored, 256 wait, and the others have their answer.
      expect(refused()).toHaveLength(344);
      expect(sending.acknowledged.size).toBe(0);
    } finally {
      await release();
    }
    await sending.done;
    expect(quantile(refused(), 0.99)).toBeLessThan(1_500);
    expect(sending.acknowledged.size).toBeGreaterThan(0);
    await inboxSettled(system);
    const { applied } = await landed(system, underTest, ["open-6", "open-7"]);
    expect([...sending.acknowledged].filter((key) => !applied.includes(key))).toEqual([]);
    expect(duplicatesOf(applied)).toEqual([]);
  }, 60_000);
});
