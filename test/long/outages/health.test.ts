// What every role answers to GET /health and GET /ready while PostgreSQL or Temporal is away and comes back, and while the
// role itself is ending.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { roleNames } from "../../../packages/dev/src/stack/role.js";
import type { RoleName } from "../../../packages/dev/src/stack/role.js";
import { eventually } from "../../harness/outages/wait.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { Exits } from "../../harness/shutdowns/roles.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const exits = new Exits();
let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ persistent: true, onDeath: exits.note });
}, 120_000);
afterAll(async () => {
  await system?.close();
  if (system) await rm(system.stack.directory, { recursive: true, force: true });
}, 60_000);

function urlOf(role: RoleName): string {
  const { env, sandboxUrl, receiverUrl, codecUrl } = system.stack;
  const local = (port = "") => `http://127.0.0.1:${port}`;
  return {
    sandbox: sandboxUrl,
    receiver: receiverUrl,
    "codec-server": new URL(codecUrl).origin,
    worker: local(env["TRUSTFLOW_WORKER__HEALTH_PORT"]),
    relay: local(env["TRUSTFLOW_RELAY__HEALTH_PORT"]),
  }[role];
}

async function ask(role: RoleName, path: "/health" | "/ready"): Promise<[number, unknown]> {
  const response = await fetch(urlOf(role) + path, { headers: { connection: "close" } });
  const { ok, waitingFor } = (await response.json()) as { ok: boolean; waitingFor?: string[] };
  return [response.status, waitingFor ?? ok];
}

/** What each role says, once all of them say what is expected; at the end of the wait, what they say instead. */
async function allSay(expected: Partial<Record<RoleName, string[]>>): Promise<void> {
  const look = async () =>
    Object.fromEntries(
      await Promise.all(roleNames.map(async (name) => [name, await ask(name, "/ready")] as const)),
    );
  const wanted = Object.fromEntries(
    roleNames.map((name) => [name, expected[name] ? [503, expected[name]] : [200, true]]),
  );
  let said: unknown;
  await eventually("the answers", async () => {
    said = await look();
    return JSON.stringify(said) === JSON.stringify(wanted);
  }).catch(() => undefined);
  expect(said).toEqual(wanted);
  for (const name of roleNames) expect(await ask(name, "/health")).toEqual([200, true]);
}

test("every role is alive, and ready once its parts are there", () => allSay({}), 60_000);

test("PostgreSQL away: worker, receiver and relay are not ready, and are again when it is back", async () => {
  await system.stack.postgres?.stop();
  await allSay({
    worker: ["PostgreSQL"],
    receiver: ["PostgreSQL"],
    relay: ["listening", "PostgreSQL"],
  });
  await system.stack.postgres?.start();
  await allSay({});
}, 90_000);

test("Temporal away: worker and relay are not ready, and are again when it is back", async () => {
  await system.stack.temporal.kill();
  await allSay({ worker: ["Temporal"], relay: ["Temporal"] });
  await system.stack.temporal.restart();
  await allSay({});
}, 90_000);

describe.each([sendPostalUnderTest])("$process", (underTest) => {
  test("a worker that is ending is not ready, while it finishes what it does", async () => {
    const { words, calls } = underTest;
    const submit = calls[0]?.sandbox ?? "";
    const slow = { words: `${words},${submit.split(".")[1]}=slow-answer-4000` };
    const handle = await underTest.start(system.client, "slow", slow);
    await eventually("the submit", async () => (await system.effects("slow"))[submit] === 1);
    const worker = system.stack.role("worker");
    const ended = exits.stop(worker);
    await eventually("503", async () => (await ask("worker", "/ready"))[0] === 503);
    expect(await ask("worker", "/ready")).toEqual([503, ["shutdown"]]);
    expect(await ask("worker", "/health")).toEqual([200, true]);
    expect(await ended).toMatchObject({ code: 0 });
    await worker.restart();
    expect((await handle.result()).outcome).toBe(underTest.outcome);
    expect(await system.effects("slow")).toEqual(underTest.effects);
  }, 60_000);
});
