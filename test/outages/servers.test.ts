// A server or a role goes away and comes back: nothing that was acknowledged is lost, nothing is applied twice, and no
// process fails or asks for a person (DESIGN §1, §7).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { callbackUrl } from "../../src/callbacks/address.js";
import type { ProcessHandle } from "../../src/client.js";
import type { ProviderEvent } from "../../src/contracts/provider-event.js";
import type { ProcessStatus } from "../../src/contracts/status.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import type { CallbackLogEntry } from "../../src/sandbox/callbacks.js";
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

function idsOf(signals: ProviderEvent[][]): string[] {
  return signals.flat().map(({ id }) => id);
}

async function isDelivered(workflowId: string): Promise<boolean> {
  const rows = await inbox.rows(workflowId);
  return rows.length > 0 && rows.every(({ state }) => state === "delivered");
}

/** What the provider's callbacks of an intent met, in their order. */
async function attemptsOf(intent: string): Promise<CallbackLogEntry[]> {
  const { newest } = await system.sandbox.callbacks();
  return newest.filter((entry) => entry.intent === intent).toReversed();
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
    const before = idsOf(await signalledEvents(system, handle.workflowId));
    expect(before.length).toBeGreaterThan(0);
    const rows = await inbox.rows(handle.workflowId);
    expect(rows.map(({ identifier, state }) => [identifier, state])).toEqual(
      before.map((id) => [id, "waiting"]),
    );

    await relay.killAndReplace();
    await inbox.endClaims();
    await eventually("delivery", () => isDelivered(handle.workflowId));
    const after = idsOf(await signalledEvents(system, handle.workflowId));
    expect(after).toEqual([...before, ...before]);
    expect(callbacksShown(await handle.status())).toBe(before.length);
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
    await eventually("the provider's retries", async () => {
      await system.sandbox.advance(minuteMs);
      return (await system.sandbox.callbacks()).counts.pending === 0;
    });
    const attempts = await attemptsOf(handle.id);
    expect(attempts.some(({ result }) => result === "retrying")).toBe(true);
    const acknowledged = attempts.filter(({ result }) => result === "delivered");
    await eventually("delivery", () => isDelivered(handle.workflowId));
    const rows = await inbox.rows(handle.workflowId);
    expect(rows.map(({ identifier }) => identifier).toSorted()).toEqual(
      acknowledged.map(({ identifier }) => identifier).toSorted(),
    );
    expect(callbacksShown(await handle.status())).toBe(rows.length);
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
    const stored = await Promise.all([
      inbox.rows(tracked.workflowId),
      inbox.rows(submitting.workflowId),
    ]);
    expect(new Set(stored.flat().map(({ identifier }) => identifier))).toEqual(
      new Set(acknowledged.map(({ identifier }) => identifier)),
    );
  }, 60_000);

  test("Temporal away: callbacks are still taken, and every process resumes where it stood", async () => {
    const handles = [await startTracked("temporal-away-1"), await startTracked("temporal-away-2")];
    await system.stack.temporal.kill();
    await system.sandbox.advance(15 * minuteMs);
    for (const { id, workflowId } of handles) {
      const taken = await attemptsOf(id);
      expect(new Set(taken.map(({ result }) => result))).toEqual(new Set(["delivered"]));
      const rows = await inbox.rows(workflowId);
      expect(rows.map(({ identifier, state }) => [identifier, state])).toEqual(
        taken.map(({ identifier }) => [identifier, "waiting"]),
      );
    }

    await system.stack.temporal.restart();
    for (const { workflowId } of handles) {
      await eventually("delivery after the restart", () => isDelivered(workflowId));
    }
    for (const name of ["receiver", "relay", "worker"] as const) {
      expect(system.stack.role(name).isAlive()).toBe(true);
    }
    await system.sandbox.setSpeed(fast);
    for (const handle of handles) {
      await endsWell(handle.id, handle);
    }
  }, 60_000);
});
