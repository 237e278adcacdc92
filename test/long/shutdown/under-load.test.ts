// Worker, receiver and relay end and start again while dozens of processes run and hundreds of callbacks a second arrive:
// no attempt is lost, no request that was accepted stays without its answer, and no acknowledgement is lost (docs/design.md §1).
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { roleNames } from "../../../packages/dev/src/stack/role.js";
import type { RoleName } from "../../../packages/dev/src/stack/role.js";
import { eventually } from "../../harness/outages/wait.js";
import {
  openLetter,
  sendPostalUnderTest as underTest,
} from "../../processes/send-postal/under-test.js";
import { begunAttempts, lossesOf } from "./histories.js";
import { Exits } from "./exits.js";
import type { Ending } from "./exits.js";
import { appliedTo, inboxSettled, mark } from "../../harness/stack/inbox.js";
import { startTestStack, timeouts } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { steadyLoad } from "../storms/sender.js";
import { addressOf, eventOf } from "../../processes/send-postal/callbacks.js";

const exits = new Exits();
let system: TestStack;
beforeAll(async () => {
  system = await startTestStack({
    roles: roleNames,
    onDeath: exits.note,
    env: {
      TRUSTFLOW_LOG__LEVEL: "DEBUG",
      TRUSTFLOW_CALLBACKS__EVENTS_PER_PROCESS: "1000",
      // Those of production: no attempt may fail because this machine is busy.
      TRUSTFLOW_JOURNAL__LEASE_SECONDS: "90",
      ...timeouts(30),
    },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const roles = ["worker", "receiver", "relay"] as const;
const openIds = Array.from({ length: 16 }, (_, index) => `open-${index}`);

test("nothing fails and nothing is lost when each role is stopped and started in turn", async () => {
  const open = await Promise.all(
    openIds.map((id) => underTest.start(system.client, id, openLetter)),
  );
  for (const handle of open)
    await eventually("tracking", async () => (await handle.status()).phase === "tracking");
  let number = 0;
  const load = steadyLoad(() => {
    const identifier = `${mark}${(number += 1)}`;
    const { workflowId } = open[number % open.length]!;
    const body = eventOf({ Identifier: identifier }, { State: "Sent", Details: identifier });
    const url = addressOf(system, workflowId);
    return { url, body: JSON.stringify(body), key: `${workflowId} ${identifier}` };
  });

  // New ones all the time, whose submit takes a while: at each moment some attempt is under way.
  const submit = underTest.calls[0]?.sandbox.split(".")[1];
  const slow = { words: `${underTest.words},${submit}=slow-answer-1500` };
  const started: ReturnType<typeof underTest.start>[] = [];
  let isOver = false;
  const starting = (async () => {
    for (; !isOver; await delay(300))
      started.push(underTest.start(system.client, `new-${started.length}`, slow));
  })();

  const endings: ({ role: string } & Ending)[] = [];
  const held: number[] = [];
  for (const name of roles) {
    const [callbacks, starts] = [load.acknowledged.size + 300, started.length + 4];
    const hasGrown = () => load.acknowledged.size >= callbacks && started.length >= starts;
    await eventually("more load", hasGrown, 60_000);
    const role = system.stack.role(name);
    // Whoever stops it insists.
    endings.push({ role: name, ...(await exits.stop(role, true)) });
    if (name === "relay") held.push(await claimedRows());
    await role.restart();
  }
  isOver = true;
  await starting;
  await load.stop();
  await inboxSettled(system);

  for (const ending of endings) expect(ending).toMatchObject({ code: 0, signal: null });
  expect(endings.filter(({ seconds }) => seconds > 20)).toEqual([]);
  expect(held).toEqual([0]);
  expect(load.cut).toEqual([]);
  expect([...load.answers]).toEqual([204]);
  const applied = await appliedTo(open);
  expect(applied.toSorted()).toEqual([...load.acknowledged].toSorted());

  const handles = await Promise.all(started);
  for (const handle of handles) expect((await handle.result()).outcome).toBe(underTest.outcome);
  const all = [...open, ...handles];
  const begun = await begunAttempts(system);
  expect(begun.size).toBeGreaterThan(all.length);
  const looks = all.map(({ workflowId }) => lossesOf(system, begun, workflowId));
  const losses = await Promise.all(looks);
  expect(losses.flat()).toEqual([]);
  for (const { id } of all) expect(await system.effects(id)).toEqual(underTest.effects);
  expect(await system.sandbox.ledger()).toMatchObject({ duplicates: [], violations: [] });
  for (const name of roleNames) expect(await textLines(name)).toEqual([]);
}, 300_000);

/** Rows that a relay has claimed: no other relay delivers them before its lease is over. */
async function claimedRows(): Promise<number> {
  const { rows } = await system.pool.query<{ n: number }>(
    `select count(*)::int as n from trustflow.callbacks
     where state = 'waiting' and claim is not null and claimed_until > clock_timestamp()`,
  );
  return rows[0]?.n ?? 0;
}

/** What a role has written that is no JSON object. */
async function textLines(role: RoleName): Promise<string[]> {
  const log = await readFile(join(system.stack.directory, "logs", `${role}.log`), "utf8");
  return log.split("\n").filter((line) => line !== "" && !isObject(line));
}

function isObject(line: string): boolean {
  try {
    return (JSON.parse(line) as unknown)?.constructor === Object;
  } catch {
    return false;
  }
}
