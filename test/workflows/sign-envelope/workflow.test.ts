// The order of an envelope's documents, what is shown between its two hosts, and several attentions at once (P1 §1.5, 4.5;
// docs/reading-the-specification.md §7).
import { expect, test } from "vitest";
import type { FakeCall } from "../workflow-run.js";
import { at, decisions, document, place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";
import { signEnvelope } from "../../../src/workflows/sign-envelope/workflow.js";

const names = ["agreement.pdf", "annex.pdf", "terms.pdf"];

/** The certificate is requested; the uploads wait for their answers. */
async function start(fakes = {}) {
  const run = await WorkflowRun.start(
    () => signEnvelope({ request: { providerFields: {} }, documents: [] }),
    {
      prepare: () => ({
        ...place,
        settings: { uploadsAtOnce: names.length },
        documents: names.map((name) => ({ name, document })),
      }),
      create: () => ({ reqPk: "r-1", esawToken: "t", requestedAt: at }),
      ...decisions,
      ...fakes,
    },
    "signEnvelope",
  );
  return { run, uploads: () => run.open.filter(({ type }) => type === "upload") };
}

const fileOf = ({ input }: FakeCall) => `f-${names.indexOf(input.file.name)}`;
const denied = {
  kind: "accessDenied" as const,
  provider: "envelope-signature",
  operation: "uploadFile",
};

test("the documents stand in the caller's order, whichever is uploaded first (P1 §4.5)", async () => {
  const { run, uploads } = await start();
  expect(await run.status()).toMatchObject({
    phase: "submitting",
    waitingFor: "the envelope host",
    references: { reqPk: "r-1" },
  });
  for (const upload of uploads().toReversed()) await upload.answer({ fileId: fileOf(upload) });
  const [send] = run.open;
  expect(send?.input.documents).toEqual(["f-0", "f-1", "f-2"].map((fileId) => ({ fileId })));
  await send?.answer({ envelopeId: "e-1", sentAt: at });
  expect(run.result).toMatchObject({
    outcome: "sent",
    dates: { requestedAt: at, sentAt: at },
    references: { reqPk: "r-1", envelopeId: "e-1", "fileId-0": "f-0", "fileId-2": "f-2" },
    documents: names.map((description, index) => ({
      ...{ kind: "submitted", description, uniqueId: `f-${index}` },
    })),
  });
});

test.each([
  ["with its id", { envelopeId: "e-17" }],
  ["without one", {}],
])(
  "an envelope that may have been sent needs an operator decision: it was, %s",
  async (_, told) => {
    const { run } = await start({ upload: () => ({ fileId: "f" }) });
    await run.openCall("send").fail({ kind: "unknownOutcome", provider: "envelope-signature" });
    const attention = await run.attention();
    expect(attention).toMatchObject({ id: "send-1", kind: "unknownOutcome" });
    expect(attention).not.toHaveProperty("happenedNeeds");
    expect(attention?.reason).toContain("at the envelope host");
    const { refused } = await run.resolve("happened", { result: { envelopeId: "no id" } });
    expect(refused?.message).toContain("result.envelopeId");
    await run.resolve("happened", { result: told });
    await run.openCall("send").answer({ ...told, sentAt: at });
    expect(run.result).toMatchObject({ outcome: "sent" });
    expect((run.result as { references: object }).references).toEqual({
      ...{ reqPk: "r-1", ...told },
      ...{ "fileId-0": "f", "fileId-1": "f", "fileId-2": "f" },
    });
  },
);

/** All three uploads are denied. */
async function stopped() {
  const started = await start();
  for (const upload of started.uploads()) await upload.fail(denied);
  return started;
}

test("each upload has an attention of its own; one that is retried goes on alone", async () => {
  const { run, uploads } = await stopped();
  const { attention, moreAttentions = [] } = await run.status();
  const all = [attention, ...moreAttentions];
  expect(all.map((one) => `${one?.kind} ${one?.step}`).toSorted()).toEqual(
    ["upload-0", "upload-1", "upload-2"].map((step) => `accessDenied ${step}`),
  );
  const { id } = all.find((one) => one?.step === "upload-1")!;
  expect((await run.resolve("retry", { attention: id })).answer).toEqual({ answer: "resolved" });
  expect(uploads().filter(({ isPatient }) => !isPatient)).toHaveLength(1);
  for (const upload of uploads()) await upload.answer({ fileId: fileOf(upload) });
  expect(run.open.map(({ type }) => type)).toEqual(["send"]);
  const { timeline, moreAttentions: left, attention: first } = await run.status();
  expect(timeline.map(({ event }) => event)).toContain("retry: upload-1");
  expect([first, left]).toEqual([undefined, undefined]);
});

test("one abandoned upload ends the process, and with it the other attentions", async () => {
  const { run } = await stopped();
  const [other] = (await run.status()).moreAttentions!;
  await run.resolve("abandon", { attention: other!.id });
  expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
  const { phase, attention, moreAttentions, references } = await run.status();
  expect([phase, attention, moreAttentions]).toEqual(["ended", undefined, undefined]);
  expect(references).toEqual({ reqPk: "r-1" });
  expect(run.types).not.toContain("send");
});

test("a cancellation while uploads run is decided by a person: abandoned, nothing is sent; withdrawn, all go on", async () => {
  for (const decision of ["abandon", "retry"] as const) {
    const { run, uploads } = await stopped();
    await run.cancel();
    const { attention, moreAttentions = [] } = await run.status();
    expect([attention?.kind, moreAttentions.length]).toEqual(["cancelRequested", 3]);
    await run.resolve(decision);
    if (decision === "abandon") {
      expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
      expect(run.open).toEqual([]);
      const decided = run.calls.find(({ type }) => type === "decide");
      expect(JSON.stringify(decided?.input)).toContain("send");
    } else {
      for (const upload of uploads()) await upload.answer({ fileId: "f" });
      expect(run.open.map(({ type }) => type)).toEqual(["send"]);
    }
  }
});
