// A server or a role goes away and comes back: nothing that was acknowledged is lost, nothing is applied twice, and no
// process fails or asks for a person (DESIGN §1, §7).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { callbackUrl } from "../../src/callbacks/address.js";
import type { ProcessHandle } from "../../src/client.js";
import type { ProcessStatus } from "../../src/contracts/status.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { eventually } from "../support/outage-wait.js";
import { InboxView, signalledEvents } from "../support/outage-inbox.js";
import { holdRole } from "../support/outage-roles.js";
import { sendPostalUnderTest } from "../support/process-under-test.js";
import { startTestStack } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";

const minuteMs = 60_000;
const fast = 60_000;

let system: TestStack;
let inbox: InboxView;

beforeAll(async () => {
  // Persistent, so that Temporal keeps its database over a restart.
  system = await startTestStack({ persistent: true });
  inbox = new InboxView(system);
}, 120_000);
afterAll(async () => {
  await inbox?.close();
  await system?.close();
  if (system) await rm(system.stack.directory, { recursive: true, force: true });
}, 60_000);
beforeEach(() => system.sandbox.setSpeed(fast));

function callbacksShown({ timeline }: Pick<ProcessStatus, "timeline">): number {
  return timeline.filter(({ source }) => source === "callback").length;
}

describe.each([sendPostalUnderTest])("$process", (process) => {
  const urlOf = (workflowId: string) => {
    const { env, receiverUrl } = system.stack;
    const ring = KeyRing.parse(env["TRUSTFLOW_KEYS__CALLBACK"] ?? "");
    const namespace = env["TEMPORAL_NAMESPACE"] ?? "";
    return callbackUrl(ring, receiverUrl, { provider: process.provider, namespace, workflowId });
  };

  /** The provider's time stands still until the process has submitted. */
  async function startTracked(id: string): Promise<ProcessHandle<{ outcome: string }>> {
    await system.sandbox.setSpeed("manual");
    const handle = await process.start(system.client, id);
    await eventually("tracking", async () => (await handle.status()).phase === "tracking");
    return handle;
  }

  async function endsWell(id: string, handle: ProcessHandle<{ outcome: string }>) {
    const result = await handle.result();
    expect(result.outcome).toBe(process.outcome);
    expect(await system.effects(id)).toEqual(process.effects);
    return result;
  }

  test("a relay killed between signal and mark delivers again, and the event counts once", async () => {
    const relay = await holdRole(system, "relay", {
      statement: "callbacks set state",
      when: "before",
    });
    const handle = await startTracked("relay-killed");
    await system.sandbox.advance(15 * minuteMs);
    await eventually("the marking", () => relay.isReached());
    const [first] = await signalledEvents(system, handle.workflowId);
    expect(first).toHaveLength(1);
    const [row] = await inbox.rows(handle.workflowId);
    expect(row?.state).toBe("waiting");

    await relay.killAndReplace();
    await inbox.endClaims();
    await eventually("delivery", async () => {
      const rows = await inbox.rows(handle.workflowId);
      return rows.every(({ state }) => state === "delivered");
    });
    const signals = await signalledEvents(system, handle.workflowId);
    expect(signals.map((events) => events.map(({ id }) => id))).toEqual([
      [row?.identifier],
      [row?.identifier],
    ]);
    expect(callbacksShown(await handle.status())).toBe(1);
    await system.sandbox.setSpeed(fast);
    await endsWell("relay-killed", handle);
  }, 60_000);

  test("a receiver killed between commit and answer: the provider's retry is a duplicate", async () => {
    const receiver = await holdRole(system, "receiver", {
      statement: "insert into trustflow.callbacks",
      when: "after",
    });
    const handle = await startTracked("receiver-killed");
    const advanced = system.sandbox.advance(15 * minuteMs);
    await eventually("the commit", () => receiver.isReached());
    await receiver.killAndReplace();
    await advanced;
    await system.sandbox.advance(10 * minuteMs);
    const attempts = (await system.sandbox.callbacks()).newest
      .filter(({ intent }) => intent === "receiver-killed")
      .toSorted((a, b) => a.attempt - b.attempt);
    expect(attempts.map(({ result }) => result)).toEqual(["retrying", "delivered"]);
    const [row, ...more] = await eventually("delivery", async () => {
      const rows = await inbox.rows(handle.workflowId);
      return rows[0]?.state === "delivered" && rows;
    });
    expect(row?.identifier).toBe(attempts[0]?.identifier);
    expect(more).toEqual([]);
    expect(callbacksShown(await handle.status())).toBe(1);
    await system.sandbox.setSpeed(fast);
    await endsWell("receiver-killed", handle);
  }, 60_000);

  test("PostgreSQL away: callbacks hear 503 at once, and every process goes on when it is back", async () => {
    const postgres = system.stack.postgres;
    if (!postgres) throw new Error("the stack has no PostgreSQL of its own");
    const tracked = await startTracked("database-away-1");
    await postgres.stop();
    const submitting = await process.start(system.client, "database-away-2");
    const asked = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await fetch(urlOf(tracked.workflowId), { method: "POST", body: "{}" });
        await answer.arrayBuffer();
        return [answer.status, answer.headers.get("retry-after")];
      }),
    );
    expect(performance.now() - asked).toBeLessThan(2_000);
    expect(answers).toEqual(Array(20).fill([503, "5"]));
    await system.sandbox.setSpeed(fast);
    await eventually("a callback that found nobody", async () => {
      const { newest } = await system.sandbox.callbacks();
      return newest.some(({ intent, result }) => intent === tracked.id && result === "retrying");
    });
    expect((await tracked.status()).attention).toBeUndefined();
    expect((await submitting.status()).attention).toBeUndefined();

    await postgres.start();
    await endsWell(tracked.id, tracked);
    await endsWell(submitting.id, submitting);
    const acknowledged = (await system.sandbox.callbacks()).newest.filter(
      ({ intent, result }) => intent?.startsWith("database-away") && result === "delivered",
    );
    const stored = await Promise.all([inbox.rows(tracked.workflowId), inbox.rows(submitting.workflowId)]);
    expect(new Set(stored.flat().map(({ identifier }) => identifier))).toEqual(
      new Set(acknowledged.map(({ identifier }) => identifier)),
    );
  }, 60_000);

  test("Temporal away: callbacks are still taken, and every process resumes where it stood", async () => {
    const handles = [await startTracked("temporal-away-1"), await startTracked("temporal-away-2")];
    await system.stack.temporal.kill();
    await system.sandbox.advance(15 * minuteMs);
    const { newest } = await system.sandbox.callbacks();
    const taken = newest.filter(({ intent }) => intent?.startsWith("temporal-away"));
    expect(taken.map(({ result }) => result)).toEqual(["delivered", "delivered"]);
    const waiting = await Promise.all(handles.map(({ workflowId }) => inbox.rows(workflowId)));
    expect(waiting.flat().map(({ state }) => state)).toEqual(["waiting", "waiting"]);

    await system.stack.temporal.restart();
    for (const { workflowId } of handles) {
      await eventually("delivery after the restart", async () => {
        const [row] = await inbox.rows(workflowId);
        return row?.state === "delivered";
      });
    }
    for (const name of ["receiver", "relay", "worker"] as const) {
      expect(system.stack.role(name).isAlive()).toBe(true);
    }
    await system.sandbox.setSpeed(fast);
    for (const handle of handles) {
      const result = await endsWell(handle.id, handle);
      expect(result).toMatchObject({ process: process.process });
    }
  }, 60_000);
});
