// A process whose workflow tasks keep failing is shown, and repaired once by the clean-up; no effect happens twice, and
// nothing that was signalled or asked meanwhile is lost (docs/operations/stuck.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { repairStuck } from "../../../src/cleanup/repair.js";
import type { FindingName } from "../../../src/cli/doctor/findings.js";
import { replayOptions } from "../../../src/cli/upkeep/replay.js";
import { StuckError } from "../../../src/client.js";
import type { ListedProcess, PostalHandle, SendPostalResult } from "../../../src/client.js";
import { loadConfig } from "../../../src/config/config.js";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import { SoleHolder } from "../../../src/postgres/sole-holder.js";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { doctor, expectFinding } from "../../cli/doctor/doctor.js";
import { commandLine } from "../../cli/in-process.js";
import { trustflow } from "../../cli/run.js";
import { addressOf, eventOf, post } from "../../processes/send-postal/callbacks.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { defectiveBundle, startRelease } from "../../harness/stack/releases.js";
import { resetToTheStart } from "../../harness/stack/reset.js";
import { historyOf, startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const LIMIT_MS = 90_000;
const repairedEvent = "Repaired: reset to the last good workflow task";

let system: TestStack;
let bundle: string;
let worker: Role;
let metricsPort: number;
const letters = {} as Record<"corrupted" | "absent" | "defect" | "reset", PostalHandle>;
let result: Promise<SendPostalResult>;

beforeAll(async () => {
  const [port] = await freePorts(1);
  metricsPort = port as number;
  system = await startTestStack({
    // Nothing happens by itself until the end.
    sandboxSpeed: 1,
    env: {
      TRUSTFLOW_STUCK__REPAIR_AFTER_SECONDS: "5",
      TRUSTFLOW_STUCK__SCAN_SECONDS: "2",
      TRUSTFLOW_RELAY__METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
    },
  });
  await system.stack.role("worker").stop();
  bundle = await defectiveBundle();
}, 180_000);
afterAll(async () => {
  await worker?.stop();
  await system?.close();
}, 60_000);

async function start(id: keyof typeof letters, more = ""): Promise<PostalHandle> {
  const handle = await system.client.sendPostal(
    id,
    letterInput(id, `delivered${more && `,${more}`}`, {
      options: { certificationLevel: "Advanced", affidavitsOnDemandEnabled: true },
    }),
  );
  await statusWhere(handle, ({ phase }) => phase === "tracking", LIMIT_MS);
  letters[id] = handle;
  return handle;
}

async function listed(): Promise<Map<string, ListedProcess["stuck"]>> {
  const found = new Map<string, ListedProcess["stuck"]>();
  for await (const { id, stuck } of system.client.list({ stuck: true })) found.set(id, stuck);
  return found;
}

interface Report {
  repaired: string[];
  left: { id: string; why: string }[];
}

async function cleanUp(env: Record<string, string> = {}, run = commandLine): Promise<Report> {
  const args = ["cleanup", "--repair-only", "--json"];
  const { code, stdout, stderr } = await run(args, { env: { ...system.stack.env, ...env } });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Report;
}

/** What a release would find before its workers take the open processes over. */
async function replay() {
  const { code, stdout } = await commandLine(["replay", "--json"], { env: system.stack.env });
  return [code, JSON.parse(stdout) as object];
}

async function runsOf(id: string): Promise<number> {
  let runs = 0;
  const query = `WorkflowId = "sendPostal/${id}"`;
  for await (const _ of system.client.temporal.workflow.list({ query })) runs += 1;
  return runs;
}

/** A callback that the relay has brought to the process. */
async function callBack(id: string, identifier: string): Promise<void> {
  const event = eventOf({ Identifier: identifier }, { State: "Sent", Details: identifier });
  expect(await post(addressOf(system, `sendPostal/${id}`), event)).toBeLessThan(300);
  await eventually(`${identifier} is signalled`, async () => {
    const { stdout } = await commandLine(["callbacks", "list", `sendPostal/${id}`, "--json"], {
      env: system.stack.env,
    });
    return !stdout.includes('"waiting"');
  });
}

/** A signal that says nothing: Temporal tries the task again at once. */
async function nudge(id: string): Promise<void> {
  await system.client.temporal.workflow.getHandle(`sendPostal/${id}`).signal(providerEvents, []);
  await delay(1_000);
}

async function doctorFinds(finding: FindingName, detail: RegExp): Promise<void> {
  expectFinding(await doctor(system.stack.env), "stuck processes", finding, detail);
}

async function gauge(repaired: string): Promise<string | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return text.match(`trustflow_processes_stuck{repaired="${repaired}"} (\\d+)`)?.[1];
}

test("a history is written that the present release cannot replay", async () => {
  // It waits once more before it submits, so that neither it nor the present release replays what the other one has run.
  worker = await startRelease(
    system,
    "waits",
    bundle.replaceAll("WAITS_BEFORE", () => "submit"),
  );
  await start("absent");
  const corrupted = await start("corrupted");
  expect(await corrupted.requestAffidavit({}, "first")).toMatchObject({ answer: "requested" });
  result = corrupted.result();
  result.catch(() => undefined);
}, 120_000);

test("a process whose worker is gone, killed or not there, is not stuck", async () => {
  await worker.kill();
  await callBack("absent", "to nobody");
  await eventually("its task has waited for the worker", async () => {
    const { events } = await historyOf(system, "sendPostal/absent");
    return events?.some(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut);
  });
  expect(await listed()).toEqual(new Map());
  expect(await cleanUp()).toMatchObject({ repaired: [], left: [] });
  expect(await runsOf("absent")).toBe(1);
  const problem = expect.stringContaining("TMPRL1100");
  expect(await replay()).toEqual([
    1,
    {
      replayed: 0,
      notChecked: 0,
      problems: [
        { id: "sendPostal/corrupted", problem },
        { id: "sendPostal/absent", problem },
      ],
    },
  ]);
  await eventually("the relay has looked", async () => (await gauge("no")) === "0");
}, 60_000);

test("processes whose tasks keep failing are listed and counted, and their status says so", async () => {
  // Away from the letter whose history it could not replay either.
  await system.client.temporal.workflow
    .getHandle("sendPostal/absent")
    .terminate("its part is over");
  worker = await startRelease(
    system,
    "throws",
    bundle.replaceAll("THROWS_AT", () => "providerEvents"),
  );
  await start("defect");
  for (const id of ["defect", "corrupted"]) await callBack(id, `while ${id}`);
  const areListed = async () => {
    await Promise.all(["defect", "corrupted"].map(nudge));
    return (await listed()).size === 2;
  };
  await eventually("both are listed", areListed, LIMIT_MS);
  const found = await listed();
  expect(found.get("corrupted")).toEqual({
    since: expect.any(String),
    failures: expect.any(Number),
    cause: "NON_DETERMINISTIC_ERROR",
  });
  expect(found.get("defect")).toMatchObject({ cause: "WORKFLOW_WORKER_UNHANDLED_FAILURE" });
  for (const handle of [letters.corrupted, letters.defect])
    await expect(handle.status()).rejects.toThrow(StuckError);
  await expect(letters.corrupted.requestAffidavit({}, "second")).rejects.toThrow(StuckError);
  const { code, stderr } = await commandLine(["status", "corrupted"], { env: system.stack.env });
  expect([code, stderr]).toEqual([4, expect.stringContaining("trustflow list --stuck")]);
  await eventually("both are counted", async () => (await gauge("no")) === "2");
  await doctorFinds("processesStuck", /^2, such as sendPostal\/(defect|corrupted)$/);
}, 180_000);

test("the clean-up leaves a failure alone that is young, and with --dry-run all of them", async () => {
  const { repaired, left } = await cleanUp({ TRUSTFLOW_STUCK__REPAIR_AFTER_SECONDS: "3600" });
  expect(repaired).toEqual([]);
  expect(left).toHaveLength(2);
  const args = ["cleanup", "--repair-only", "--dry-run", "--json"];
  const { stdout } = await commandLine(args, { env: system.stack.env });
  expect((JSON.parse(stdout) as Report).repaired).toHaveLength(2);
  expect([await runsOf("corrupted"), await runsOf("defect")]).toEqual([1, 1]);
}, 60_000);

test("two clean-ups at once reset each process once, and what was signalled and asked is not lost", async () => {
  const other = new SoleHolder(system.pool, "repair of stuck processes of default");
  expect(await other.isHeld()).toBe(true);
  const why = "another clean-up repairs now";
  expect(await cleanUp()).toMatchObject({ repaired: [], left: [{ why }, { why }] });
  other.close();
  let reports: Report[] = [];
  // It has found both processes, and goes on when the others have reset them.
  const slow = await repairStuck({
    ...{ client: system.client.temporal, withoutRetries: system.client.temporal.connection },
    ...{ afterSeconds: 0, mayReset: () => Promise.resolve(true) },
    async replay() {
      if (reports.length === 0)
        reports = await Promise.all([cleanUp({}, trustflow), cleanUp({}, trustflow)]);
      return replayOptions(loadConfig());
    },
  });
  expect(slow).toEqual({ repaired: [], left: [] });
  expect(new Set(reports.flatMap(({ repaired }) => repaired))).toEqual(
    new Set(["sendPostal/corrupted", "sendPostal/defect"]),
  );
  expect([await runsOf("corrupted"), await runsOf("defect")]).toEqual([2, 2]);
  const { timeline } = await statusWhere(
    letters.corrupted,
    (status) => status.timeline.some(({ event }) => event === repairedEvent),
    60_000,
  );
  expect(timeline.filter(({ event }) => event === repairedEvent)).toHaveLength(1);
  expect(timeline.filter(({ source }) => source === "callback")).toHaveLength(1);
  expect(await letters.corrupted.requestAffidavit({}, "first")).toMatchObject({
    answer: "requested",
  });
  expect(await letters.corrupted.requestAffidavit({}, "second")).toMatchObject({
    answer: "requested",
  });
  expect(await system.effects("corrupted")).toEqual({
    "evi-post.submit": 1,
    "evi-post.affidavitRequest": 2,
  });
}, 180_000);

test("what is stuck after its repair is left to a person", async () => {
  const isBack = async () => {
    await nudge("defect");
    return (await listed()).get("defect")?.repairedAt !== undefined;
  };
  await eventually("it is listed again", isBack, LIMIT_MS);
  const found = await listed();
  expect([...found.keys()]).toEqual(["defect"]);
  const { since = "", repairedAt = "" } = found.get("defect") ?? {};
  expect(Date.parse(since)).toBeGreaterThanOrEqual(Date.parse(repairedAt));
  await doctorFinds("repairFailed", /^1, such as sendPostal\/defect, which a repair did not fix$/);
  const { stdout } = await commandLine(["list", "--stuck"], { env: system.stack.env });
  expect(stdout).toContain("once, without success");
  expect(await cleanUp({ TRUSTFLOW_STUCK__REPAIR_AFTER_SECONDS: "0" })).toMatchObject({
    repaired: [],
    left: [{ id: "sendPostal/defect", why: "still stuck after one repair" }],
  });
  expect(await runsOf("defect")).toBe(2);
  await eventually("it is counted as such", async () => (await gauge("once")) === "1");
}, 180_000);

test("a release without the defect takes all of them to their end, with each effect once", async () => {
  await worker.stop();
  await system.stack.role("worker").restart();
  await nudge("defect");
  // Until its task has succeeded, a status is refused, or is that of the last task that did.
  const repaired = async () => {
    const { timeline: shown = [] } = (await letters.defect.status().catch(() => undefined)) ?? {};
    return shown.some(({ event }) => event === repairedEvent) && shown;
  };
  const timeline = await eventually("it goes on", repaired, LIMIT_MS);
  expect(timeline.filter(({ event }) => event === repairedEvent)).toHaveLength(1);
  expect(timeline.filter(({ source }) => source === "callback")).toHaveLength(1);
  await system.sandbox.setSpeed(60_000);
  expect(await result).toMatchObject({ outcome: "delivered" });
  expect(await letters.defect.result()).toMatchObject({ outcome: "delivered" });
  expect(await system.effects("defect")).toEqual({ "evi-post.submit": 1 });
  expect(await listed()).toEqual(new Map());
  expect(await cleanUp()).toMatchObject({ repaired: [], left: [] });
}, 120_000);

test("who waits for the result or for an answer while the process is reset still gets it", async () => {
  await system.sandbox.setSpeed(1);
  const handle = await start("reset", "affidavitRequest=slow-answer-4000");
  expect(await replay()).toEqual([0, { replayed: 1, problems: [], notChecked: 0 }]);
  const { workflow } = system.client.temporal;
  const waiting = handle.result();
  const answer = handle.requestAffidavit({}, "slow");
  await eventually("its call is under way", async () => {
    const { raw } = await workflow.getHandle(handle.workflowId).describe();
    // STARTED
    return raw.pendingActivities?.some(({ state }) => state === 2);
  });
  await resetToTheStart(system, handle.workflowId);
  // The call of the run before may still be under way.
  expect(["requested", "unknown"]).toContain((await answer).answer);
  await system.sandbox.setSpeed(60_000);
  expect(await waiting).toMatchObject({ outcome: "delivered" });
  expect(await system.effects("reset")).toEqual({
    "evi-post.submit": 1,
    "evi-post.affidavitRequest": 1,
  });
}, 120_000);
