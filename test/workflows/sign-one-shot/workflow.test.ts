// A one-shot signature: the caller's word on the identity video, and the end of an asynchronous signature, which an operator enters where
// the provider has no query (P1 §1.4, 6.2; docs/reading-the-specification.md §7).
import { describe, expect, test } from "vitest";
import { signOneShot } from "../../../src/workflows/sign-one-shot/workflow.js";
import { decisions, document, oneShotFakes, oneShotSettings as settings } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const start = (plan: object, fakes: Parameters<typeof WorkflowRun.start>[1] = {}) =>
  WorkflowRun.start(
    () => signOneShot({} as never),
    { ...oneShotFakes(plan), ...decisions, ...fakes },
    "signOneShot",
  );
const waitsFor = async (run: WorkflowRun) => (await run.status()).waitingFor;
const reports = (run: WorkflowRun, kind: string) =>
  run.signal("providerEvents", [{ id: kind, kind, at: "2026-01-01T00:00:00.000Z" }]);

describe("the identity video", () => {
  const filmed = (fakes = {}) =>
    start({ identityVideo: { evidences: [], video: document } }, fakes);

  test("decisions that come at once are one decision, which every one is answered by (P1 §1.4)", async () => {
    const run = await filmed();
    const approved = await run.update("decideVideo", { decision: "approve" });
    const again = await run.update("decideVideo", { decision: "approve" });
    const cancelled = await run.update("decideVideo", { decision: "cancel" });
    await run.openCall("decideVideo").answer({ answer: "approved" });
    const answers = [approved, again, cancelled].map(({ answer }) => answer);
    expect(answers).toEqual(["approved", "approved", "notAwaited"].map((answer) => ({ answer })));
    expect(run.types.filter((type) => type === "decideVideo")).toHaveLength(1);
    expect(run.types).toContain("sendOtp");
    expect((await run.update("updateVideo", { providerFields: { room: 3 } })).answer).toEqual({
      answer: "notAwaited",
    });
  });

  test("a decision without an answer makes the process ask; an end that shows is the answer to the next one", async () => {
    const run = await filmed();
    const first = await run.update("decideVideo", { decision: "approve" });
    await run.openCall("decideVideo").answer({ answer: "unknown" });
    expect(first.answer).toEqual({ answer: "unknown" });
    const second = await run.update("decideVideo", { decision: "cancel" });
    await run.openCall("ask").answer({ stamp: "2", state: "approved", fingerprint: "approved" });
    await run.openCall("decideVideo").answer({ answer: "unknown" });
    expect(second.answer).toEqual({ answer: "notAwaited" });
    expect(await waitsFor(run)).toBe("the holder's code");
  });

  test("a decision that is under way at the deadline counts", async () => {
    const run = await filmed();
    await run.update("decideVideo", { decision: "approve" });
    await run.pass(settings.deadlineSeconds);
    expect(run.open.map(({ type }) => type)).toEqual(["decideVideo"]);
    await run.openCall("decideVideo").answer({ answer: "approved" });
    expect(await waitsFor(run)).toBe("the holder's code");
  });

  test.each([
    ["cancel", "cancelled", "approved", { outcome: "cancelled" }],
    ["approve", "approved", "cancelled", undefined],
  ])("%s under way goes before a query that shows another state", async (...given) => {
    const [decision, answer, state, result] = given;
    const run = await filmed();
    const decided = await run.update("decideVideo", { decision });
    await run.signal("surplus", { count: 1 });
    await run.openCall("ask").answer({ stamp: "2", state, fingerprint: state });
    expect(run.types).not.toContain("sendOtp");
    await run.openCall("decideVideo").answer({ answer });
    expect(decided.answer).toEqual({ answer });
    if (result) expect(run.result).toMatchObject(result);
    else expect(await waitsFor(run)).toBe("the holder's code");
  });

  test.each([
    ["approved", "the holder's code", undefined],
    ["cancelled", undefined, { outcome: "cancelled" }],
  ])("that the provider shows as %s goes on by itself", async (state, waitingFor, result) => {
    const run = await filmed();
    await run.pass(settings.pollIntervalSeconds);
    await run.openCall("ask").answer({ stamp: "2", state, fingerprint: state });
    expect(await waitsFor(run)).toBe(waitingFor);
    if (result) expect(run.result).toMatchObject(result);
  });

  test("its decision is not waited for once it has come", async () => {
    const run = await filmed({ contract: undefined });
    await run.update("decideVideo", { decision: "approve" });
    await run.openCall("decideVideo").answer({ answer: "approved" });
    expect(run.open.map(({ type }) => type)).toEqual(["contract"]);
    expect(await waitsFor(run)).toBeUndefined();
  });

  test.each([undefined, null, [], "room"])("%j is no change of it", async (providerFields) => {
    const run = await filmed();
    const { refused } = await run.update("updateVideo", { providerFields });
    expect(refused?.message).toContain("providerFields: must be an object");
    expect(run.types).not.toContain("updateVideo");
  });

  test("each change of it is in the timeline, with its answer", async () => {
    const run = await filmed();
    const update = await run.update("updateVideo", { providerFields: { room: 2 } });
    await run.openCall("updateVideo").answer({ answer: "updated" });
    expect(update.answer).toEqual({ answer: "updated" });
    expect((await run.status()).timeline.map(({ event }) => event)).toContain(
      "Update of the identity video: updated",
    );
  });
});

test("a process that a person gave up asks for no code any more", async () => {
  const run = await start({});
  expect(await run.status()).toHaveProperty("code");
  await run.cancel();
  await run.resolve("abandon");
  expect(run.failure?.type).toBe("Abandoned");
  expect(run.memos.at(-1)).not.toHaveProperty("code");
});

test("after the code was accepted, the status says that the signed documents are waited for", async () => {
  const run = await start({}, { sign: () => ({ verdict: "accepted" }), fetchSigned: undefined });
  await run.update("submitOtp", { code: "123" });
  expect(run.open.map(({ type }) => type)).toEqual(["fetchSigned"]);
  expect(await waitsFor(run)).toBe("the signed documents");
});

test("a person's word that an asynchronous signature was begun is not its end (docs/reading-the-specification.md §7)", async () => {
  const run = await start({ variant: "asynchronous" });
  await run.update("submitOtp", { code: "123" });
  await run.openCall("sign").fail({ kind: "unknownOutcome" });
  await run.resolve("happened");
  await run.openCall("sign").answer({ verdict: "accepted" });
  expect(run.result).toBeUndefined();
  expect(await waitsFor(run)).toBe("the signature service to finish");
  expect((await run.update("submitOtp", { code: "456" })).answer).toEqual({ answer: "accepted" });
  await run.openCall("ask").answer({ stamp: "2", state: "failed", fingerprint: "failed" });
  expect(run.result).toMatchObject({ outcome: "failed" });
});

describe("without a query for the end of a signature", () => {
  const unasked = { variant: "asynchronous", canRetrieve: false };

  /** The signer's code was taken, and the signature goes on. */
  async function signing() {
    const run = await start(unasked, { sign: () => ({ verdict: "accepted", state: "signing" }) });
    await run.update("submitOtp", { code: "123" });
    return run;
  }

  test.each(["signed", "failed"])("a report is put to a person at once: %s", async (state) => {
    const run = await signing();
    await reports(run, state);
    expect(await run.attention()).toMatchObject({
      ...{ kind: "unknownOutcome", step: "signing" },
      ...{ decisions: ["retry", "happened", "abandon"], happenedNeeds: ["state"] },
    });
    const { reason } = (await run.attention())!;
    expect(reason).toContain(`reported "${state}"`);
    expect(reason).toContain("no query is configured");
    for (const result of [undefined, { state: "perhaps" }])
      expect(
        (await run.resolve("happened", { result: result as never })).refused?.message,
      ).toContain("result.state");
    // The person's word counts, whatever was reported.
    const other = state === "signed" ? "failed" : "signed";
    await run.resolve("happened", { result: { state: other } });
    expect(run.result).toMatchObject({ outcome: other, documents: [{ kind: "contract" }] });
    const { dates } = run.result as { dates: { signedAt?: string } };
    expect(dates.signedAt === undefined).toBe(other === "failed");
    expect(run.types).not.toContain("fetchSigned");
  });

  test("without a report a person is asked at the deadline, and may wait on until a new one", async () => {
    const run = await signing();
    const { until } = await run.status();
    await run.pass(99);
    expect(await run.attention()).toBeUndefined();
    await run.pass(1);
    expect((await run.attention())?.reason).toContain("did not report an end");
    await run.pass(50);
    await run.resolve("retry");
    const again = Date.parse((await run.status()).until ?? "");
    expect(again).toBe(Date.parse(until ?? "") + 150_000);
    await run.pass(100);
    await run.resolve("happened", { result: { state: "failed" } });
    expect(run.result).toMatchObject({ outcome: "failed" });
  });

  test("a report that comes while a person is asked is told to them; what was heard before is not asked again", async () => {
    const run = await signing();
    await run.pass(100);
    const silent = await run.attention();
    await reports(run, "signed");
    const told = await run.attention();
    expect(told?.reason).toContain('reported "signed"');
    const stale = { attention: silent?.id, decision: "abandon", by: "Ada" };
    expect((await run.update("resolve", stale)).refused?.message).toContain("is not open");
    await run.resolve("retry");
    expect(await waitsFor(run)).toBe("the signature service to finish");
    await run.pass(100);
    await run.resolve("abandon");
    expect(run.failure).toMatchObject({ type: "Abandoned" });
    expect(run.types.filter((type) => type === "sign")).toHaveLength(1);
  });

  test.each([0, 100])("a cancellation after %i s is decided by a person", async (seconds) => {
    const run = await signing();
    await run.pass(seconds);
    await run.cancel();
    expect((await run.attention())?.kind).toBe("cancelRequested");
    await run.resolve("abandon");
    expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
  });

  test("however many words are reported, a person is asked twenty times at most, and shown five of them", async () => {
    const run = await signing();
    for (let index = 0; index < 40; index += 1)
      await reports(run, `word ${index}${"\u0001".repeat(90)}`);
    const { timeline } = await run.status();
    const questions = timeline.filter(({ event }) =>
      event.startsWith("Needs an operator decision"),
    );
    expect(questions).toHaveLength(20);
    const { reason = "" } = (await run.attention()) ?? {};
    expect(reason).toContain('"word 0" and "word 1" and "word 2"');
    expect(reason).toContain("15 more kinds");
    expect(reason).not.toContain("\u0001");
    await run.resolve("retry");
    expect(await waitsFor(run)).toBe("the signature service to finish");
    // What it is not told of word by word is news too.
    await run.signal("surplus", { count: 7 });
    await run.resolve("happened", { result: { state: "failed" } });
    expect(run.result).toMatchObject({ outcome: "failed" });
  });
});
