// One-shot signatures of an account that has no call by which the provider could be asked (`paths.retrieve` is `none`): the
// webhook reports, a person decides (P1 §6.2; docs/reading-the-specification.md §7).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbandonedError } from "../../../../src/client.js";
import type { OneShotHandle, SignOneShotInput } from "../../../../src/client.js";
import { searchAttributes } from "../../../../src/contracts/shared/names.js";
import type { Attention } from "../../../../src/contracts/shared/status.js";
import { openState } from "../../../../packages/dev/src/stack/stack-state.js";
import { codeFor } from "../../../processes/issue-certificate/inputs.js";
import { signerInput } from "../../../processes/sign-one-shot/inputs.js";
import { callbackAddress } from "../../../harness/stack/inbox.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

const account = "unasked";
let system: TestStack;
let webhookUrl: string;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-e2e-"));
  const { ports } = await openState(directory, () => undefined);
  const key = "TRUSTFLOW_ACCOUNTS__UNASKED__ONE_SHOT_SIGNATURE__";
  system = await startTestStack({
    directory,
    sandboxSpeed: 300,
    env: {
      [`${key}BASE_URL`]: `http://127.0.0.1:${ports.sandbox}`,
      [`${key}TOKEN`]: `${account}-token`,
      [`${key}PATHS__RETRIEVE`]: "none",
    },
  });
  webhookUrl = callbackAddress(system, { provider: "one-shot-signature", account });
  const token = `${account}-token`;
  await system.sandbox.putAccount(account, { webhookUrl, token, password: token });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** The signer's code was taken, and the signature goes on at the provider. */
async function signing(
  id: string,
  words: string,
  settings: SignOneShotInput["settings"] = {},
): Promise<OneShotHandle> {
  const input = signerInput(id, words, { variant: "asynchronous", account, settings });
  const handle = await system.client.signOneShot(id, input);
  expect(await handle.submitOtp(await codeFor(system.sandbox, id))).toEqual({ answer: "accepted" });
  return handle;
}

async function askedOf(handle: OneShotHandle, about = ""): Promise<Attention> {
  const { attention } = await statusWhere(
    handle,
    (status) => status.attention?.reason.includes(about) === true,
  );
  return attention!;
}

const decides = (
  handle: OneShotHandle,
  { id: attention }: Attention,
  decision: "retry" | "happened" | "abandon",
  result?: Record<string, unknown>,
) => handle.resolve({ attention, decision, by: "Ada", ...(result && { result }) });

const deadlineOf = async ({ workflowId }: OneShotHandle) => {
  const { workflow } = system.client.temporal;
  const { typedSearchAttributes } = await workflow.getHandle(workflowId).describe();
  return typedSearchAttributes.get(searchAttributes.deadline)?.getTime() ?? 0;
};

test.each([
  ["async", "signed"],
  ["async-failed", "failed"],
])("what the webhook reports is put to a person at once: %s", async (words, state) => {
  const handle = await signing(`told-${state}`, words);
  const attention = await askedOf(handle);
  expect(attention).toMatchObject({
    kind: "unknownOutcome",
    step: "signing",
    decisions: ["retry", "happened", "abandon"],
    happenedNeeds: ["state"],
  });
  expect(attention.reason).toContain(`reported "${state}"`);
  expect(attention.reason).toContain("no query is configured");
  expect(attention.reason).not.toMatch(/retrieve|provider may have acted/);
  await expect(decides(handle, attention, "happened")).rejects.toThrow(/result\.state/);
  const wrong = decides(handle, attention, "happened", { state: "perhaps" });
  await expect(wrong).rejects.toThrow(/result\.state/);
  // The person's word counts, whatever was reported.
  expect(await decides(handle, attention, "happened", { state })).toEqual({ answer: "resolved" });
  const { outcome, documents, dates } = await handle.result();
  expect([outcome, documents.map(({ kind }) => kind)]).toEqual([state, ["contract"]]);
  expect(dates.signedAt === undefined).toBe(state === "failed");
});

test("without a webhook a person is asked at the deadline, and may wait on until a new one", async () => {
  const handle = await signing("untold", "async-stalled,webhook-lost", { deadlineSeconds: 3 });
  const { until } = await statusWhere(
    handle,
    ({ waitingFor }) => waitingFor === "the signature service to finish",
  );
  const first = await deadlineOf(handle);
  expect(Date.parse(until ?? "")).toBe(first);
  const attention = await askedOf(handle, "did not report an end");
  expect(Date.now()).toBeGreaterThanOrEqual(first);
  await decides(handle, attention, "retry");
  const again = await statusWhere(handle, (status) => status.until !== undefined);
  expect(Date.parse(again.until ?? "")).toBeGreaterThanOrEqual(first + 3_000);
  expect(await deadlineOf(handle)).toBe(Date.parse(again.until ?? ""));
  await decides(handle, await askedOf(handle), "happened", { state: "failed" });
  expect((await handle.result()).outcome).toBe("failed");
});

test("a webhook that comes while a person is asked is told to them; what was heard before is not asked again", async () => {
  const handle = await signing("late", "async-stalled", { deadlineSeconds: 2 });
  const silent = await askedOf(handle, "did not report an end");
  const [item] = (await system.sandbox.items({ intent: "late" })).items;
  await system.sandbox.move(item?.id ?? "", { state: "signed" });
  const told = await askedOf(handle, 'reported "signed"');
  expect(told.id).not.toBe(silent.id);
  await expect(decides(handle, silent, "abandon")).rejects.toThrow(/is not open/);
  await decides(handle, told, "retry");
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the signature service to finish");
  await decides(handle, await askedOf(handle), "abandon");
  await expect(handle.result()).rejects.toThrow(AbandonedError);
  expect(await system.effects("late")).toMatchObject({ "one-shot-signature.sign": 1 });
});

test("an operator also sees a webhook with an unknown kind that comes before the code's own answer", async () => {
  const input = signerInput("early", "async-stalled,webhook-lost", {
    variant: "asynchronous",
    account,
  });
  const handle = await system.client.signOneShot("early", input);
  const code = await codeFor(system.sandbox, "early");
  const { references } = await statusWhere(
    handle,
    ({ waitingFor }) => waitingFor === "the holder's code",
  );
  const date = new Date().toISOString();
  const event = { event: "all-done", request_pk: references["requestPk"], date };
  const told = await fetch(webhookUrl, { method: "POST", body: JSON.stringify(event) });
  expect(told.status).toBe(204);
  await statusWhere(handle, ({ timeline }) => timeline.some((entry) => entry.event === "all-done"));
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  await decides(handle, await askedOf(handle, 'reported "all-done"'), "happened", {
    state: "signed",
  });
  expect((await handle.result()).outcome).toBe("signed");
});

test("an operator also decides about its cancellation, while the process waits for the end and while it asks for it", async () => {
  for (const settings of [{}, { deadlineSeconds: 1 }]) {
    const id = `cancelled-${Object.keys(settings).length}`;
    const handle = await signing(id, "async-stalled,webhook-lost", settings);
    if (settings.deadlineSeconds !== undefined) await askedOf(handle, "did not report an end");
    await system.client.temporal.workflow.getHandle(handle.workflowId).cancel();
    await decides(handle, await askedOf(handle, "cancellation"), "abandon");
    await expect(handle.result()).rejects.toMatchObject({ details: { effect: "exists" } });
  }
});

test("classic: signed by its own answer, and nothing is fetched without a query", async () => {
  const handle = await system.client.signOneShot(
    "classic",
    signerInput("classic", "", { account }),
  );
  expect(await handle.submitOtp(await codeFor(system.sandbox, "classic"))).toEqual({
    answer: "accepted",
  });
  const { outcome, documents } = await handle.result();
  expect([outcome, documents.map(({ kind }) => kind)]).toEqual(["signed", ["contract"]]);
  expect(await system.effects("classic")).toMatchObject({
    "one-shot-signature.uploadDocument": 2,
    "one-shot-signature.sign": 1,
  });
});

test("an upload or a signature without an answer needs an operator decision, because there is no look-up", async () => {
  const words = "uploadDocument=cut-after-commit,sign=cut-after-commit";
  const handle = await system.client.signOneShot(
    "unanswered",
    signerInput("unanswered", words, { account }),
  );
  const upload = await askedOf(handle);
  expect(upload).toMatchObject({ kind: "unknownOutcome", step: "upload-0" });
  await decides(handle, upload, "happened");
  const code = await codeFor(system.sandbox, "unanswered");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  const sign = await askedOf(handle);
  expect(sign).toMatchObject({ kind: "unknownOutcome", step: "sign" });
  await decides(handle, sign, "happened");
  expect((await handle.result()).outcome).toBe("signed");
  expect(await system.effects("unanswered")).toMatchObject({
    "one-shot-signature.uploadDocument": 2,
    "one-shot-signature.sign": 1,
  });
});

test("however many words a webhook reports, a person is asked twenty times at most, and shown five of them", async () => {
  const handle = await signing("flooded", "async-stalled,webhook-lost");
  const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
  const words = Array.from({ length: 40 }, (_, index) => `word ${index}${"\u0001".repeat(90)}`);
  for (const [index, kind] of words.entries()) {
    const at = new Date(Date.UTC(2026, 0, 1) + index).toISOString();
    await workflow.signal("providerEvents", [{ id: kind, kind, at }]);
    // Each in a workflow task of its own: the worker answers after it.
    await handle.timeline();
  }
  const timeline = await handle.timeline();
  const { attention } = await handle.status();
  const questions = timeline.filter(({ event }) => event.startsWith("Needs an operator decision"));
  expect(questions).toHaveLength(20);
  expect(attention?.reason).toContain('"word 0" and "word 1" and "word 2"');
  expect(attention?.reason).toContain("15 more kinds");
  expect(attention?.reason).not.toContain("\u0001");
  await decides(handle, attention!, "retry");
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the signature service to finish");
  // What it is not told of word by word is news too.
  await workflow.signal("surplus", { count: 7 });
  await decides(handle, await askedOf(handle), "happened", { state: "failed" });
  expect((await handle.result()).outcome).toBe("failed");
});

test("documents that cannot be fetched are not deleted: the input is refused, and the field named", async () => {
  const input = signerInput("undeletable", "", { account, deleteDocuments: true });
  const handle = await system.client.signOneShot("undeletable", input);
  await expect(handle.result()).rejects.toMatchObject({
    fields: [
      { path: "deleteDocuments", problem: expect.stringContaining("cannot fetch the signed") },
    ],
  });
  expect(await system.effects("undeletable")).toEqual({});
});
