// An envelope on the whole system: its order, its two hosts' bad days, and what a person decides between them (P1 §1.5, 4.5;
// docs/reading-the-specification.md §0, §7).
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { AbandonedError, InputMismatchError, NotAcceptedError } from "../../../../src/client.js";
import type { EnvelopeHandle, SignEnvelopeInput } from "../../../../src/client.js";
import { searchAttributes } from "../../../../src/contracts/shared/names.js";
import type { Attention, ProcessStatus } from "../../../../src/contracts/shared/status.js";
import { envelopeInput } from "../../../processes/sign-envelope/inputs.js";
import { hideDocument } from "../../../harness/documents/hidden-document.js";
import { letterPdf } from "../../../processes/send-postal/inputs.js";
import { namedDocuments, ownedDocuments } from "../../../harness/documents/owned-documents.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 1 });
}, 120_000);
afterAll(() => system?.close(), 60_000);
afterEach(() => system.sandbox.clearFaults());

const once = { esawoneshot: 1, upload: 3, send: 1 };
const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.replace("envelope-signature.", ""),
      count,
    ]),
  );

const begin = (
  intent: string,
  words = "",
  more: Partial<SignEnvelopeInput> = {},
): Promise<EnvelopeHandle> =>
  system.client.signEnvelope(intent, envelopeInput(intent, words, more));

const askedOf = (handle: EnvelopeHandle, kind?: Attention["kind"]): Promise<ProcessStatus> =>
  statusWhere(handle, ({ attention }) =>
    attention !== undefined && kind !== undefined
      ? attention.kind === kind
      : attention !== undefined,
  );

const uploadedNames = async (fileIds: unknown[]) =>
  Promise.all(fileIds.map(async (id) => (await system.sandbox.item(String(id)))["name"]));

/** The files of the envelope that was sent, in its order. */
async function sentFiles({ references }: { references: Record<string, string> }) {
  const { envelope } = await system.sandbox.item(references["reqPk"] ?? "");
  return (envelope as { fileIds: string[] }).fileIds;
}

const events = ({ timeline }: { timeline: { event: string }[] }) =>
  timeline.map(({ event }) => event);

test("a document that vanishes once the certificate is requested asks a person, and fails nothing", async () => {
  const bytes = Buffer.concat([letterPdf, Buffer.from("\n% of its own")]);
  const document = await system.client.documents.put(bytes, "application/pdf");
  const input = envelopeInput("vanished");
  input.documents[1]!.document = document;
  const busy = await system.sandbox.addFault({
    ...{ operation: "envelope-signature.esawoneshot", kind: "reject", status: 429 },
    ...{ retryAfterSeconds: 1, times: "always", lookupKey: "vanished" },
  });
  const handle = await system.client.signEnvelope("vanished", input);
  await statusWhere(handle, ({ environment }) => environment !== "unknown");
  const bringBack = await hideDocument(system.stack.env, document);
  await system.sandbox.removeFault(busy.id);
  const { attention } = await askedOf(handle, "protocol");
  expect(attention?.reason).toContain("our-document-is-not-in-the-document-store");
  await bringBack();
  await handle.resolve({ attention: attention!.id, decision: "retry", by: "Ada" });
  expect((await handle.result()).outcome).toBe("sent");
  expect(await effectsOf("vanished")).toEqual(once);
});

test("the documents stand in the caller's order, whichever is uploaded first (P1 §4.5, docs/reading-the-specification.md §7)", async () => {
  const slow = { operation: "envelope-signature.upload", kind: "slow-answer" } as const;
  await system.sandbox.addFault({ ...slow, lookupKey: "order", call: 1, ms: 1_500 });
  await system.sandbox.addFault({ ...slow, lookupKey: "order", call: 2, ms: 700 });
  const handle = await begin("order");
  const result = await handle.result();
  expect(await ownedDocuments(system, handle)).toEqual(namedDocuments(result.documents));
  expect(result).toMatchObject({
    outcome: "sent",
    dates: { requestedAt: expect.any(String), sentAt: expect.any(String) },
    references: { reqPk: expect.any(String), envelopeId: expect.any(String) },
  });
  const names = ["order--agreement.pdf", "order--annex.pdf", "order--terms.pdf"];
  const fileIds = await sentFiles(result);
  expect(await uploadedNames(fileIds)).toEqual(names);
  expect(result.documents).toMatchObject(
    names.map((description, index) => ({
      kind: "submitted",
      description,
      uniqueId: fileIds[index],
    })),
  );
  expect(result.references).toMatchObject({
    "fileId-0": fileIds[0],
    "fileId-1": fileIds[1],
    "fileId-2": fileIds[2],
  });
  expect(await effectsOf("order")).toEqual(once);
});

test("an upload whose answer is lost is made again, and one file of the two is used (docs/reading-the-specification.md §0)", async () => {
  const result = await (await begin("orphan", "upload=cut-after-commit")).result();
  expect(await effectsOf("orphan")).toEqual({ ...once, upload: 4 });
  expect(new Set(await sentFiles(result)).size).toBe(3);
  expect(result.timeline.filter(({ source }) => source === "person")).toEqual([]);
});

test.each<[string, string, { envelopeId?: string }]>([
  ["with its id", "known-id", { envelopeId: "e-17" }],
  ["without one", "no-id", {}],
])("an envelope that may have been sent needs an operator decision: it %s", async (_, id, told) => {
  const handle = await begin(id, "send=cut-after-commit");
  const { attention, references } = await askedOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "send" });
  expect(attention?.reason).toContain("send at the envelope host");
  expect(Object.keys(references)).toEqual(["reqPk", "fileId-0", "fileId-1", "fileId-2"]);
  const decision = { attention: attention?.id ?? "", decision: "happened", by: "Ada" } as const;
  const bad = handle.resolve({ ...decision, result: { envelopeId: "no id" } });
  await expect(bad).rejects.toMatchObject({ fields: [{ path: "result.envelopeId" }] });
  expect(await handle.resolve({ ...decision, result: told })).toEqual({ answer: "resolved" });
  const result = await handle.result();
  expect(result.outcome).toBe("sent");
  expect(result.references["envelopeId"]).toBe(told.envelopeId);
  expect(await effectsOf(id)).toEqual(once);
});

test("while the envelope host is away the process waits, and shows what it has", async () => {
  const { id } = await system.sandbox.addFault({
    operation: "envelope-signature.upload",
    kind: "cut",
    times: "always",
  });
  const handle = await begin("away");
  const waits = ({ references }: ProcessStatus) => references["reqPk"] !== undefined;
  expect(await statusWhere(handle, waits)).toMatchObject({
    phase: "submitting",
    waitingFor: "the envelope host",
  });
  expect(await effectsOf("away")).toEqual({ esawoneshot: 1 });
  await system.sandbox.removeFault(id);
  expect((await handle.result()).outcome).toBe("sent");
  expect(await effectsOf("away")).toEqual(once);
}, 60_000);

test("a wrong API token brings every upload to attention, each with its own id, and all go on by themselves", async () => {
  await system.sandbox.putAccount("sandbox", { apiToken: "changed" });
  const handle = await begin("token");
  const all = await statusWhere(handle, ({ moreAttentions = [] }) => moreAttentions.length === 2);
  const attentions = [all.attention, ...(all.moreAttentions ?? [])];
  const steps = new Set(attentions.map((attention) => attention?.step));
  expect(steps).toEqual(new Set(["upload-0", "upload-1", "upload-2"]));
  expect(attentions.map((attention) => attention?.kind)).toEqual(
    attentions.map(() => "accessDenied"),
  );
  const second = attentions.find((attention) => attention?.step === "upload-1")?.id ?? "";
  const answer = await handle.resolve({ attention: second, decision: "retry", by: "Ada" });
  expect(answer).toEqual({ answer: "resolved" });
  await system.sandbox.putAccount("sandbox", { apiToken: "sandbox-api-token" });
  const result = await handle.result();
  expect(events(result)).toContain("retry: upload-1");
  expect(await effectsOf("token")).toEqual(once);
}, 60_000);

test("what one host refuses says nothing of the other: each has its own credential (P1 §5.5)", async () => {
  await system.sandbox.putAccount("sandbox", { apiToken: "changed" });
  const handles: EnvelopeHandle[] = [];
  for (const id of ["hosts-1", "hosts-2"]) {
    const handle = await begin(id);
    handles.push(handle);
    const { attention, moreAttentions = [] } = await statusWhere(
      handle,
      (status) => status.moreAttentions?.length === 2,
    );
    // The first ones that it ever had: its certificate request was not stopped by the envelope host's refusal.
    const numbers = [attention, ...moreAttentions].map((one) => one?.id.split("-").at(-1));
    expect(new Set(numbers)).toEqual(new Set(["1", "2", "3"]));
  }
  await system.sandbox.putAccount("sandbox", { apiToken: "sandbox-api-token" });
  for (const handle of handles) expect((await handle.result()).outcome).toBe("sent");
}, 60_000);

test("one abandoned upload ends the process, and the other attentions end too", async () => {
  await system.sandbox.putAccount("sandbox", { apiToken: "changed" });
  const handle = await begin("given-up");
  const { moreAttentions = [] } = await statusWhere(
    handle,
    (status) => status.moreAttentions?.length === 2,
  );
  const abandon = { decision: "abandon", by: "Ada" } as const;
  await handle.resolve({ ...abandon, attention: moreAttentions[0]?.id ?? "" });
  await expect(handle.result()).rejects.toMatchObject({ details: { effect: "exists" } });
  await system.sandbox.putAccount("sandbox", { apiToken: "sandbox-api-token" });
  const ended = await handle.status();
  expect([ended.phase, ended.attention, ended.moreAttentions]).toEqual([
    "ended",
    undefined,
    undefined,
  ]);
  const { typedSearchAttributes } = await system.client.temporal.workflow
    .getHandle(handle.workflowId)
    .describe();
  expect(typedSearchAttributes.get(searchAttributes.attention)).toBeUndefined();
  expect(await effectsOf("given-up")).toEqual({ esawoneshot: 1 });
});

test("what the envelope host refuses is a person's matter: the certificate request exists (a wrong vendor, P1 §2.10)", async () => {
  const refused = { operation: "envelope-signature.send", kind: "reject", status: 400 } as const;
  await system.sandbox.addFault({ ...refused, lookupKey: "vendor" });
  const handle = await begin("vendor");
  const { attention } = await askedOf(handle, "protocol");
  expect(attention).toMatchObject({ step: "send", decisions: ["retry", "happened", "abandon"] });
  expect(attention).not.toHaveProperty("happenedNeeds");
  await handle.resolve({ attention: attention?.id ?? "", decision: "retry", by: "Ada" });
  expect((await handle.result()).outcome).toBe("sent");
  expect(await effectsOf("vendor")).toEqual(once);
});

test("a request that the authority refuses is not accepted: nothing exists", async () => {
  const handle = await begin("refused", "esawoneshot=reject-400");
  await expect(handle.result()).rejects.toThrow(NotAcceptedError);
  expect(await effectsOf("refused")).toEqual({});
});

test("abandoned between the hosts it says what exists, and a start again takes that up", async () => {
  const refused = { operation: "envelope-signature.upload", kind: "reject", status: 400 } as const;
  await system.sandbox.addFault({ ...refused, lookupKey: "between", call: 2 });
  const handle = await begin("between", "", { settings: { uploadsAtOnce: 1 } });
  const { attention, references } = await askedOf(handle, "protocol");
  expect(attention).toMatchObject({ step: "upload-1" });
  expect(Object.keys(references)).toEqual(["reqPk", "fileId-0"]);
  await handle.resolve({ attention: attention?.id ?? "", decision: "abandon", by: "Ada" });
  const failed = handle.result();
  await expect(failed).rejects.toThrow(AbandonedError);
  await expect(failed).rejects.toMatchObject({ details: { effect: "exists", by: "Ada" } });
  const ended = await handle.status();
  expect(ended).toMatchObject({ phase: "ended", references });
  expect(events(ended)).toContain("Uploaded document 1 of 3");

  const other = envelopeInput("between", "", { names: ["agreement", "other"] });
  const another = await system.client.signEnvelope("between", other);
  await expect(another.result()).rejects.toThrow(InputMismatchError);
  expect((await (await begin("between")).result()).references).toMatchObject(references);
  expect(await effectsOf("between")).toEqual(once);
}, 60_000);

test("an operator brings a lost certificate request's ids, and its token is shown nowhere (docs/reading-the-specification.md §8)", async () => {
  const handle = await begin("lost", "esawoneshot=cut-after-commit");
  const { attention } = await askedOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "create" });
  expect(attention?.reason).toContain("at the certificate authority's host");
  const [item] = (await system.sandbox.items({ intent: "lost" })).items;
  const decision = { attention: attention?.id ?? "", decision: "happened", by: "Ada" } as const;
  const result = { reqPk: item?.id, esawToken: "mistyped-token" };
  await handle.resolve({ ...decision, result });
  const status = await askedOf(handle, "protocol");
  expect(status).toMatchObject({ references: { reqPk: item?.id }, attention: { step: "send" } });
  expect(JSON.stringify(status)).not.toContain("mistyped-token");
  await handle.resolve({ attention: status.attention?.id ?? "", decision: "abandon", by: "Ada" });
  const error = await handle.result().catch((error: unknown) => error);
  expect(JSON.stringify(error)).not.toContain("mistyped-token");
  expect(await effectsOf("lost")).toEqual({ esawoneshot: 1, upload: 3 });
});

test("a cancellation in the Web UI while several uploads run is decided by a person, and nothing is sent after it", async () => {
  const slow = { operation: "envelope-signature.upload", kind: "slow", ms: 2_500 } as const;
  await system.sandbox.addFault({ ...slow, lookupKey: "cancelled", times: "always" });
  const handle = await begin("cancelled");
  await statusWhere(handle, ({ references }) => references["reqPk"] !== undefined);
  await system.client.temporal.workflow.getHandle(handle.workflowId).cancel();
  const { attention } = await askedOf(handle, "cancelRequested");
  const abandon = { attention: attention?.id ?? "", decision: "abandon", by: "Ada" } as const;
  expect(await handle.resolve(abandon)).toEqual({ answer: "resolved" });
  await expect(handle.result()).rejects.toMatchObject({ details: { effect: "exists" } });
  expect(await heldRow(handle.workflowId, "send")).toEqual([{ state: "notSent", isHeld: true }]);
  await delay(4_000);
  const { upload: _, ...effects } = await effectsOf("cancelled");
  expect(effects).toEqual({ esawoneshot: 1 });
}, 60_000);

test("a cancellation that is withdrawn lets several steps in attention go on", async () => {
  await system.sandbox.putAccount("sandbox", { apiToken: "changed" });
  const handle = await begin("withdrawn");
  await statusWhere(handle, ({ moreAttentions = [] }) => moreAttentions.length === 2);
  await system.client.temporal.workflow.getHandle(handle.workflowId).cancel();
  const { attention, moreAttentions = [] } = await askedOf(handle, "cancelRequested");
  expect(moreAttentions.map(({ kind }) => kind)).toEqual(moreAttentions.map(() => "accessDenied"));
  expect(moreAttentions).toHaveLength(3);
  await handle.resolve({ attention: attention?.id ?? "", decision: "retry", by: "Ada" });
  await system.sandbox.putAccount("sandbox", { apiToken: "sandbox-api-token" });
  expect((await handle.result()).outcome).toBe("sent");
  expect(await effectsOf("withdrawn")).toEqual(once);
}, 60_000);

/** While the row is held, no attempt that is still on its way can send. */
async function heldRow(workflowId: string, step: string) {
  const { rows } = await system.pool.query(
    `select state, lease_until > clock_timestamp() as "isHeld" from trustflow.effects where workflow_id = $1 and step = $2`,
    [workflowId, step],
  );
  return rows;
}

/** As a plain Temporal client starts it: nothing was looked at before. */
const plain = (id: string, input: object) =>
  system.client.temporal.workflow.execute("signEnvelope", {
    workflowId: `signEnvelope/${id}`,
    taskQueue: "trustflow",
    args: [input],
  });

test("a plain client's inline documents are stored by the first activity, before any effect", async () => {
  const result = await plain("plain", envelopeInput("plain"));
  expect(result.documents).toHaveLength(3);
  for (const { document } of result.documents)
    expect((await system.client.documents.get(document)).subarray(0, 5).toString()).toBe("%PDF-");
  expect(await effectsOf("plain")).toEqual(once);
});

test.each([
  [
    "a document that is not in the store",
    "documents.1.document",
    { uri: `document:${"0".repeat(32)}` },
  ],
  ["a PDF that is none", "documents.1.document", undefined],
])("%s fails before any effect, and is named", async (_, path, reference) => {
  const id = reference ? "unstored" : "no-pdf";
  const input = envelopeInput(id);
  const stored = { ...reference, sha256: "0".repeat(64), size: 1, mediaType: "application/pdf" };
  const inline = { base64: "bm8gUERG", mediaType: "application/pdf" };
  input.documents[1]!.document = (reference ? stored : inline) as never;
  const failed = await plain(id, input).catch((error) => error.cause);
  expect(failed).toMatchObject({ type: "InvalidInput", details: [{ fields: [{ path }] }] });
  expect(await effectsOf(id)).toEqual({});
});
