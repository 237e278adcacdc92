// Versioned workers: a release gets some processes, then all; one with a defect is taken back, and no process is lost.
import { afterAll, beforeAll, expect, test } from "vitest";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PostalHandle, SendPostalInput } from "../../../src/client.js";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { cli, start as startProgram, trustflow } from "../../cli/run.js";
import { addressOf, eventOf, post } from "../../processes/send-postal/callbacks.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { defectiveBundle, startRelease } from "../../harness/stack/releases.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const deploymentName = "letters";
let system: TestStack;
let bundle: string;
let letter: PostalHandle;
let throwing: string;
let good: string;
const workers: Role[] = [];

beforeAll(async () => {
  system = await startTestStack({
    // Nothing happens by itself until the end.
    sandboxSpeed: 1,
    env: { TRUSTFLOW_WORKER__DEPLOYMENT: deploymentName },
  });
  bundle = await defectiveBundle();
}, 180_000);
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await system?.close();
}, 60_000);

/** What `trustflow release` of that release says. */
async function release(program: string, watchSeconds = 1, gate: SendPostalInput[] = []) {
  const file = join(system.stack.directory, "gate.json");
  const gates = gate.flatMap(() => ["--gate", `sendPostal=${file}`]);
  await writeFile(file, JSON.stringify(gate[0] ?? {}));
  const args = [
    "release",
    "--percentage",
    "100",
    "--watch-seconds",
    String(watchSeconds),
    ...gates,
    "--json",
  ];
  const { code, stdout, stderr } = await trustflow(args, { env: system.stack.env, program });
  return [code, JSON.parse(stdout || stderr) as { buildId?: string }] as const;
}

async function start(name: string, code: string): Promise<string> {
  workers.push(await startRelease(system, name, code));
  return join(system.stack.directory, name, "dist", "cli.js");
}

async function routing() {
  const { workflowService } = system.client.temporal;
  const known = await workflowService.describeWorkerDeployment({
    namespace: "default",
    deploymentName,
  });
  const { currentDeploymentVersion: current, rampingDeploymentVersion: ramping } =
    known.workerDeploymentInfo?.routingConfig ?? {};
  return { current: current?.buildId, ramping: ramping?.buildId };
}

const isTracking = (handle: PostalHandle) =>
  statusWhere(handle, ({ phase }) => phase === "tracking");

/** How long its checks take depends on the machine; a release that ends instead says why. */
async function ramped(releasing: Promise<unknown>): Promise<void> {
  let ended: unknown;
  void releasing.then((answer) => (ended = answer));
  const isRamped = async () => ended !== undefined || (await routing()).ramping !== undefined;
  await eventually("it is ramped", isRamped, 180_000);
  expect(ended).toBe(undefined);
}

/** The release that throws at a callback gets one. */
async function meetDefect({ workflowId }: PostalHandle): Promise<void> {
  const event = eventOf({ Identifier: workflowId }, { State: "Sent", Details: "Sent" });
  expect(await post(addressOf(system, workflowId), event)).toBeLessThan(300);
}

/** At each signal Temporal tries the task again at once, so that it need not be waited for. */
function nudgedUntil(
  what: string,
  { workflowId }: PostalHandle,
  isDone: () => boolean | Promise<boolean>,
): Promise<unknown> {
  const nudge = () =>
    system.client.temporal.workflow.getHandle(workflowId).signal(providerEvents, []);
  return eventually(what, async () => (await isDone()) || nudge(), 120_000, 1_000);
}

test("the first workers of a deployment take processes once they are released", async () => {
  letter = await system.client.sendPostal("defect", letterInput("defect", "delivered"));
  const [code, { buildId }] = await release(cli);
  expect([code, await routing()]).toEqual([0, { current: buildId, ramping: undefined }]);
  await isTracking(letter);
}, 60_000);

test("a release that does not replay an open process gets none", async () => {
  const before = await routing();
  const program = await start(
    "waits",
    bundle.replaceAll("WAITS_BEFORE", () => "submit"),
  );
  const problems = [{ id: letter.workflowId, problem: expect.stringContaining("TMPRL1100") }];
  expect(await release(program)).toEqual([1, { replayed: 0, notChecked: 0, problems }]);
  expect(await routing()).toEqual(before);
}, 60_000);

test("a second run takes back what a first one that was cut off has left behind", async () => {
  const before = await routing();
  throwing = await start(
    "throws",
    bundle.replaceAll("THROWS_AT", () => "providerEvents"),
  );
  const met = await system.client.sendPostal("defect-2", letterInput("defect-2", "delivered"));
  await isTracking(met);
  const cutOff = startProgram(["release", "--percentage", "100"], {
    env: system.stack.env,
    program: throwing,
  });
  const ended = once(cutOff, "exit");
  await ramped(ended);
  cutOff.kill("SIGKILL");
  await ended;
  await meetDefect(met);
  const { workflow } = system.client.temporal;
  const query = `WorkflowId = "${met.workflowId}" AND TemporalReportedProblems IS NOT NULL`;
  const isMarked = async () => (await workflow.count(query)).count > 0;
  await nudgedUntil("it is stuck", met, isMarked);
  expect(await release(throwing)).toMatchObject([
    1,
    { state: "takenBack", stuck: [met.workflowId] },
  ]);
  expect(await routing()).toEqual(before);
  await nudgedUntil("it goes on", met, async () => !(await isMarked()));
  await workflow.getHandle(met.workflowId).terminate();
}, 300_000);

test("a release at which a process gets stuck is taken back, and the process goes on", async () => {
  const before = await routing();
  let isOver = false;
  const releasing = release(throwing, 120).finally(() => (isOver = true));
  await ramped(releasing);
  await meetDefect(letter);
  await nudgedUntil("the release ends", letter, () => isOver);
  const [code, answer] = await releasing;
  expect([code, answer]).toMatchObject([1, { state: "takenBack", stuck: [letter.workflowId] }]);
  expect(await routing()).toEqual(before);
  await eventually("the callback is applied", async () => {
    const { timeline = [] } = (await letter.status().catch(() => undefined)) ?? {};
    return timeline.some(({ source }) => source === "callback");
  });
}, 180_000);

test("a release whose gate fails gets none", async () => {
  const before = await routing();
  good = await start("good", bundle);
  await system.sandbox.setSpeed(60_000);
  const rejected = letterInput("gate", "submit=reject-400");
  expect(await release(good, 1, [rejected])).toMatchObject([
    1,
    { message: expect.stringContaining("The gate") },
  ]);
  expect(await routing()).toEqual(before);
}, 60_000);

test("a good release goes on with every open process, and each effect happened once", async () => {
  const [code, { buildId }] = await release(good, 1, [letterInput("gate", "delivered")]);
  expect([code, await routing()]).toEqual([0, { current: buildId, ramping: undefined }]);
  await system.stack.role("worker").stop();
  expect(await letter.result()).toMatchObject({ outcome: "delivered" });
  for (const id of ["defect", "gate"])
    expect(await system.effects(id)).toEqual({ "evi-post.submit": 1 });
  const { workflow } = system.client.temporal;
  const query = `TemporalWorkerDeploymentVersion = "${deploymentName}:${buildId}"`;
  expect((await workflow.count(query)).count).toBe(2);
}, 120_000);
