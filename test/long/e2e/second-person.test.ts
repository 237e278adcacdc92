// Where a decision takes two persons, one alone changes nothing (docs/decisions/0024).
import { afterAll, beforeAll, expect, test } from "vitest";
import { AbandonedError } from "../../../src/client.js";
import type { ListedProcess, Trustflow } from "../../../src/client.js";
import { proposalsMemo } from "../../../src/contracts/shared/names.js";
import type { Resolution } from "../../../src/contracts/shared/messages.js";
import { commandLine } from "../../cli/in-process.js";
import { letterToDecide, Operators } from "../../harness/stack/operators.js";
import { eventually } from "../../harness/outages/wait.js";
import { resetToTheStart } from "../../harness/stack/reset.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const operators = new Operators("ana", "ben");
let system: TestStack;
let ana: Trustflow;
let ben: Trustflow;

beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: "auto",
    env: {
      ...operators.env,
      TRUSTFLOW_DECISIONS__SIGNED: "required",
      TRUSTFLOW_DECISIONS__SECOND_PERSON: "abandon,happened",
    },
  });
  ana = await operators.client("ana");
  ben = await operators.client("ben");
}, 120_000);
afterAll(async () => {
  await operators.close();
  await system?.close();
}, 60_000);

const waiting = (id: string) => letterToDecide(system, id);

type More = Partial<Pick<Resolution, "decision" | "note">>;

const decide = (client: Trustflow, id: string, attention: string, more: More = {}) =>
  client
    .handle(`sendPostal/${id}`)
    .resolve({ attention, decision: "abandon", by: "a person", ...more });

async function listed(id: string): Promise<ListedProcess | undefined> {
  for await (const one of system.client.list({ attention: true })) if (one.id === id) return one;
  return undefined;
}

test("one operator proposes, the same one again changes nothing, and another one confirms", async () => {
  const { handle, attention } = await waiting("two");
  expect(await decide(ana, "two", attention, { note: "enough" })).toEqual({ answer: "pending" });
  expect(await decide(ana, "two", attention)).toEqual({ answer: "pending" });
  const { attention: open } = await handle.status();
  const timeline = await handle.timeline();
  expect(open).toMatchObject({
    id: attention,
    proposed: { decision: "abandon", principal: "ana", by: "a person" },
  });
  expect(timeline).toContainEqual(
    expect.objectContaining({
      event: "Proposed abandon: submit",
      principal: "ana",
      note: "enough",
    }),
  );
  expect(await decide(ben, "two", attention, { note: "seen" })).toEqual({ answer: "resolved" });
  await expect(handle.result()).rejects.toThrow(AbandonedError);
  await expect(handle.result()).rejects.toMatchObject({
    decision: { principal: "ben", proposedBy: "ana", note: "seen" },
  });
}, 60_000);

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
