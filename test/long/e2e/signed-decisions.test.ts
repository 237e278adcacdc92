// Where decisions must be signed, only an operator's key decides, for one process and once (docs/design.md §6).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AbandonedError, InvalidInputError } from "../../../src/client.js";
import type { ListedProcess, Trustflow } from "../../../src/client.js";
import { proposalsMemo } from "../../../src/contracts/shared/names.js";
import type { Resolution } from "../../../src/contracts/shared/messages.js";
import { commandLine } from "../../cli/in-process.js";
import { killHeldRoles, replaceRole } from "../../harness/outages/roles.js";
import { eventually } from "../../harness/outages/wait.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { letterToDecide, Operators } from "../../harness/stack/operators.js";
import { resetToTheStart } from "../../harness/stack/reset.js";
import { signerInput, videoDecision, videoInput } from "../../processes/sign-one-shot/inputs.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const operators = new Operators("ana", "ben");
let system: TestStack;
let ana: Trustflow;

beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: "auto",
    env: { ...operators.env, TRUSTFLOW_DECISIONS__SIGNED: "required" },
  });
  ana = await operators.client("ana");
}, 120_000);
afterAll(async () => {
  await operators.close();
  await system?.close();
}, 60_000);

const waiting = (id: string) => letterToDecide(system, id);

const refusedFields = (promise: Promise<unknown>) =>
  promise.then(
    (answer) => ({ answer }),
    (error) => (error instanceof InvalidInputError ? error.fields.map(({ path }) => path) : error),
  );

// Before any letter is refused: the circuit of its account would hold this one up.
test("Temporal's own cancellation is refused, an operator's is done", async () => {
  const input = letterInput("cancelled", "cancellable");
  const handle = await system.client.sendPostal("cancelled", input);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  await system.client.temporal.workflow.getHandle("sendPostal/cancelled").cancel();
  await statusWhere(handle, ({ timeline }) =>
    timeline.some(({ event }) => event === "Cancellation refused"),
  );
  const { stdout } = await commandLine(
    ["cancel", "sendPostal/cancelled", "--by", "Ana Ruiz", "--note", "wrong address"],
    { env: { ...system.stack.env, ...operators.keyOf("ana") } },
  );
  expect(stdout).toContain("cancelled");
  const { outcome, timeline } = await handle.result();
  expect(outcome).toBe("cancelled");
  expect(timeline).toContainEqual(
    expect.objectContaining({
      source: "person",
      event: "Cancel: cancelled",
      by: "Ana Ruiz",
      principal: "ana",
      note: "wrong address",
    }),
  );
  const shown = await commandLine(["status", "sendPostal/cancelled"], { env: system.stack.env });
  expect(shown.stdout).toContain("by Ana Ruiz, signed by ana");
}, 60_000);

// Each has processes of its own, and most of it is waiting for them.
test.concurrent("without a signature nothing is decided, and the field is named", async () => {
  const { handle, attention } = await waiting("unsigned");
  const resolution: Resolution = { attention, decision: "abandon", by: "Ana Ruiz" };
  expect(await refusedFields(handle.resolve(resolution))).toEqual(["signature"]);
  expect(await refusedFields(handle.cancel())).toEqual(["signature"]);
  const forger = await operators.client("ben", "ana");
  const forged = forger.handle("sendPostal/unsigned").resolve(resolution);
  expect(await refusedFields(forged)).toEqual(["signature.value"]);
  const status = await handle.status();
  expect(status.attention?.id).toBe(attention);
  expect(status.timeline.filter(({ source }) => source === "person")).toEqual([]);
}, 60_000);

test.concurrent("the word on a contract is a decision too", async () => {
  const input = signerInput("contract", "", { settings: { requireContractAccepted: true } });
  const handle = await system.client.signOneShot("contract", input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the acceptance of the contract");
  expect(await refusedFields(handle.acceptContract(true))).toEqual(["signature"]);
  const own = ana.handle("signOneShot/contract");
  expect(await own.acceptContract(false)).toEqual({ answer: "refused" });
  const { outcome, timeline } = await handle.result();
  expect(outcome).toBe("contractRefused");
  expect(timeline).toContainEqual(
    expect.objectContaining({ event: "Contract refused", principal: "ana" }),
  );
}, 60_000);

test.concurrent("what becomes of an identity video is a decision too: without a signature nothing is sent", async () => {
  const handle = await system.client.signOneShot("video", videoInput("video"));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
  expect(await refusedFields(handle.decideVideo("approve"))).toEqual(["signature"]);
  // Which fields decide on a video is not shown, so none of them is sent unsigned.
  expect(await refusedFields(handle.updateVideo({ state: "approved" }))).toEqual(["signature"]);
  const own = ana.handle("signOneShot/video");
  expect(await own.decideVideo("cancel")).toEqual({ answer: "cancelled" });
  const { outcome, timeline } = await handle.result();
  expect(outcome).toBe("cancelled");
  expect(timeline.filter(({ source }) => source === "person")).toMatchObject([
    { event: "Identity video: cancelled", principal: "ana" },
  ]);
  const sent = Object.entries(await system.effects("video"));
  expect(sent.filter(([name]) => /(approve|cancel)IdentityVideo/.test(name))).toEqual([
    ["one-shot-signature.cancelIdentityVideo", 1],
  ]);
}, 60_000);

type More = Partial<Pick<Resolution, "decision" | "note">>;

const decide = (client: Trustflow, id: string, attention: string, more: More = {}) =>
  client
    .handle(`sendPostal/${id}`)
    .resolve({ attention, decision: "abandon", by: "a person", ...more });

async function listed(id: string): Promise<ListedProcess | undefined> {
  for await (const one of system.client.list({ attention: true })) if (one.id === id) return one;
  return undefined;
}

// Last, as it changes the worker.
describe("where a decision takes two persons, one alone changes nothing", () => {
  let ben: Trustflow;

  beforeAll(async () => {
    await replaceRole(system, "worker", {
      TRUSTFLOW_DECISIONS__SECOND_PERSON: "abandon,happened",
    });
    ben = await operators.client("ben");
  }, 60_000);
  afterAll(killHeldRoles);

  test("a proposal outlives a reset to before it", async () => {
    const { handle, attention } = await waiting("reset");
    await decide(ana, "reset", attention);
    await resetToTheStart(system, "sendPostal/reset");
    const { attention: again } = await statusWhere(
      handle,
      (status) => status.attention !== undefined,
    );
    expect(again?.id).toBe(attention);
    expect(await decide(ben, "reset", attention)).toEqual({ answer: "resolved" });
    await expect(handle.result()).rejects.toThrow(AbandonedError);
  }, 60_000);

  test("the commands say what a second operator runs, and list who proposed what", async () => {
    const { attention } = await waiting("commands");
    const run = (name: string, args: string[]) =>
      commandLine(args, { env: { ...system.stack.env, ...operators.keyOf(name) } });
    const given = ["resolve", "sendPostal/commands", "--decision", "abandon", "--by", "Ana Ruiz"];
    const { code, stdout } = await run("ana", given);
    expect([code, stdout]).toEqual([5, expect.stringContaining("pending")]);
    expect(stdout).toContain(
      `trustflow resolve sendPostal/commands --attention ${attention} --decision abandon --by NAME`,
    );
    const proposals = () => listed("commands").then((one) => one?.proposals);
    expect(await eventually("a proposal in the list", proposals)).toEqual([
      { attention, decision: "abandon", principal: "ana" },
    ]);
    // Temporal itself stores the proposal encrypted.
    const { workflowService, options } = system.client.temporal;
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution: { workflowId: "sendPostal/commands" },
    });
    const { metadata } = workflowExecutionInfo?.memo?.fields?.[proposalsMemo] ?? {};
    expect(String(metadata?.["encoding"])).toBe("binary/encrypted");
    expect((await run("ben", ["list", "--attention"])).stdout).toMatch(
      /PROPOSED\n(.*\n)*.*abandon by ana/,
    );
    expect((await run("ben", ["list", "--attention", "--csv"])).stdout).toMatch(
      /"PROPOSED","RETRYING"\r\n(.*\r\n)*.*"abandon by ana"/,
    );
    expect((await run("ben", ["status", "sendPostal/commands"])).stdout).toContain(
      "abandon was proposed by ana",
    );
    const confirmed = await run("ben", [...given.slice(0, -1), "Ben Soto"]);
    expect([confirmed.code, confirmed.stdout]).toEqual([0, expect.stringContaining("resolved")]);
  }, 60_000);
});
