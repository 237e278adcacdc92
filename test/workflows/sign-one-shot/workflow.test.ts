// A one-shot signature: the caller's word on the identity video, and the end of an asynchronous signature, which an operator enters where
// the provider has no query (P1 §1.4, 6.2; docs/reading-the-specification.md §7).
import { describe, expect, test } from "vitest";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { signOneShot } from "../../../src/workflows/sign-one-shot/workflow.js";
import { WorkflowRun } from "../workflow-run.js";

const document = { uri: "document:1", sha256: "a", size: 1, mediaType: "application/pdf" };
const settings = {
  ...{ holderDeadlineSeconds: 1_000, otpTries: 3, otpResends: 3, resendSpacingSeconds: 0 },
  ...{ answerSeconds: 15, requireContractAccepted: false, deadlineSeconds: 100 },
  ...{ pollIntervalSeconds: 10_000, askIntervalSeconds: 10_000 },
};
const written = { answer: "resolved", occurrence: "1", effect: "none" };

async function start(plan: object, fakes: Record<string, (input: any) => unknown> = {}) {
  const run = await WorkflowRun.start(
    () => signOneShot({} as never),
    {
      prepare: () => ({
        ...{ environment: "sandbox", account: "default", settings, variant: "classic" },
        ...{ documents: [], canRetrieve: true, ...plan },
      }),
      create: () => ({ requestPk: "r-1", createdAt: "2026-01-01T00:00:00.000Z" }),
      createVideo: () => null,
      uploadEvidences: () => null,
      uploadVideo: () => null,
      contract: () => ({ kind: "contract", document }),
      sendOtp: () => ({ sent: "sent" }),
      fetchSigned: () => [],
      decide: () => written,
      checkDecision: () => ({ principal: undefined }),
      ...fakes,
    },
    "signOneShot",
  );
  const status = async () => (await run.query("status")) as ProcessStatus;
  const attention = async () => (await status()).attention;
  return {
    ...{ run, status, attention },
    openCall: (type: string) => run.open.find((call) => call.type === type),
    resolve: async (decision: string, result?: object) =>
      run.update("resolve", {
        ...{ attention: (await attention())?.id, decision, by: "Ada" },
        ...(result && { result }),
      }),
    reports: (kind: string, at = "2026-01-01T00:00:00.000Z") =>
      run.signal("providerEvents", [{ id: kind, kind, at }]),
  };
}

describe("the identity video", () => {
  const filmed = () => start({ identityVideo: { evidences: [], video: document } });

  test("decisions that come at once are one decision, which every one is answered by (P1 §1.4)", async () => {
    const { run, openCall } = await filmed();
    const approved = await run.update("decideVideo", { decision: "approve" });
    const again = await run.update("decideVideo", { decision: "approve" });
    const cancelled = await run.update("decideVideo", { decision: "cancel" });
    await openCall("decideVideo")?.answer({ answer: "approved" });
    const answers = [approved, again, cancelled].map(({ answer }) => answer);
    expect(answers).toEqual(["approved", "approved", "notAwaited"].map((answer) => ({ answer })));
    expect(run.types.filter((type) => type === "decideVideo")).toHaveLength(1);
    expect(run.types).toContain("sendOtp");
    expect((await run.update("updateVideo", { providerFields: { room: 3 } })).answer).toEqual({
      answer: "notAwaited",
    });
  });

  test("a decision without an answer makes the process ask; an end that shows is the answer to the next one", async () => {
    const { run, openCall, status } = await filmed();
    const first = await run.update("decideVideo", { decision: "approve" });
    await openCall("decideVideo")?.answer({ answer: "unknown" });
    expect(first.answer).toEqual({ answer: "unknown" });
    const second = await run.update("decideVideo", { decision: "cancel" });
    await openCall("ask")?.answer({ stamp: "2", state: "approved", fingerprint: "approved" });
    await openCall("decideVideo")?.answer({ answer: "unknown" });
    expect(second.answer).toEqual({ answer: "notAwaited" });
    expect((await status()).waitingFor).toBe("the holder's code");
  });

  test("a decision that is under way at the deadline counts", async () => {
    const { run, openCall, status } = await filmed();
    await run.update("decideVideo", { decision: "approve" });
    await run.pass(settings.deadlineSeconds);
    await openCall("ask")?.answer({ stamp: "2", state: "uploaded", fingerprint: "uploaded" });
    await openCall("decideVideo")?.answer({ answer: "approved" });
    expect((await status()).waitingFor).toBe("the holder's code");
  });

  test.each([
    ["cancel", "cancelled", "approved", { outcome: "cancelled" }],
    ["approve", "approved", "cancelled", undefined],
  ])("%s under way goes before a query that shows another state", async (...given) => {
    const [decision, answer, state, result] = given;
    const { run, openCall, status } = await filmed();
    const decided = await run.update("decideVideo", { decision });
    await run.signal("surplus", { count: 1 });
    await openCall("ask")?.answer({ stamp: "2", state, fingerprint: state });
    expect(run.types).not.toContain("sendOtp");
    await openCall("decideVideo")?.answer({ answer });
    expect(decided.answer).toEqual({ answer });
    if (result) expect(run.result).toMatchObject(result);
    else expect((await status()).waitingFor).toBe("the holder's code");
  });

  test.each([
    ["approved", "the holder's code", undefined],
    ["cancelled", undefined, { outcome: "cancelled" }],
  ])("that the provider shows as %s goes on by itself", async (state, waitingFor, result) => {
    const { run, status, openCall } = await filmed();
    await run.pass(settings.pollIntervalSeconds);
    if (!openCall("ask")) await run.signal("surplus", { count: 1 });
    await openCall("ask")?.answer({ stamp: "2", state, fingerprint: state });
    expect((await status()).waitingFor).toBe(waitingFor);
    if (result) expect(run.result).toMatchObject(result);
  });

  test.each([undefined, null, [], "room"])("%j is no change of it", async (providerFields) => {
    const { run } = await filmed();
    const { refused } = await run.update("updateVideo", { providerFields });
    expect(refused?.message).toContain("providerFields: must be an object");
    expect(run.types).not.toContain("updateVideo");
  });

  test("each change of it is in the timeline, with its answer", async () => {
    const { run, openCall, status } = await filmed();
    const update = await run.update("updateVideo", { providerFields: { room: 2 } });
    await openCall("updateVideo")?.answer({ answer: "updated" });
    expect(update.answer).toEqual({ answer: "updated" });
    expect((await status()).timeline.map(({ event }) => event)).toContain(
      "Update of the identity video: updated",
    );
  });
});

test("a person's word that an asynchronous signature was begun is not its end (docs/reading-the-specification.md §7)", async () => {
  const { run, openCall, resolve, status } = await start({ variant: "asynchronous" });
  await run.update("submitOtp", { code: "123" });
  await openCall("sign")?.fail({ kind: "unknownOutcome" });
  await resolve("happened");
  await openCall("sign")?.answer({ verdict: "accepted" });
  expect(run.result).toBeUndefined();
  expect((await status()).waitingFor).toBe("the signature service to finish");
  await openCall("ask")?.answer({ stamp: "2", state: "failed", fingerprint: "failed" });
  expect(run.result).toMatchObject({ outcome: "failed" });
});

describe("without a query for the end of a signature", () => {
  const unasked = { variant: "asynchronous", canRetrieve: false };

  /** The signer's code was taken, and the signature goes on. */
  async function signing(before?: (started: Awaited<ReturnType<typeof start>>) => Promise<void>) {
    const started = await start(unasked, {
      sign: () => ({ verdict: "accepted", state: "signing" }),
    });
    await before?.(started);
    await started.run.update("submitOtp", { code: "123" });
    return started;
  }

  test.each(["signed", "failed"])("a report is put to a person at once: %s", async (state) => {
    const { run, reports, attention, resolve } = await signing();
    await reports(state);
    expect(await attention()).toMatchObject({
      ...{ kind: "unknownOutcome", step: "signing" },
      ...{ decisions: ["retry", "happened", "abandon"], happenedNeeds: ["state"] },
    });
    const { reason } = (await attention())!;
    expect(reason).toContain(`reported "${state}"`);
    expect(reason).toContain("no query is configured");
    for (const result of [undefined, { state: "perhaps" }])
      expect((await resolve("happened", result)).refused?.message).toContain("result.state");
    // The person's word counts, whatever was reported.
    const other = state === "signed" ? "failed" : "signed";
    await resolve("happened", { state: other });
    expect(run.result).toMatchObject({ outcome: other, documents: [{ kind: "contract" }] });
    const { dates } = run.result as { dates: { signedAt?: string } };
    expect(dates.signedAt === undefined).toBe(other === "failed");
    expect(run.types).not.toContain("fetchSigned");
  });

  test("without a report a person is asked at the deadline, and may wait on until a new one", async () => {
    const { run, attention, resolve, status } = await signing();
    const { until } = await status();
    await run.pass(99);
    expect(await attention()).toBeUndefined();
    await run.pass(1);
    expect((await attention())?.reason).toContain("did not report an end");
    await run.pass(50);
    await resolve("retry");
    const again = Date.parse((await status()).until ?? "");
    expect(again).toBe(Date.parse(until ?? "") + 150_000);
    await run.pass(100);
    await resolve("happened", { state: "failed" });
    expect(run.result).toMatchObject({ outcome: "failed" });
  });

  test("a report that comes while a person is asked is told to them; what was heard before is not asked again", async () => {
    const { run, reports, attention, resolve, status } = await signing();
    await run.pass(100);
    const silent = await attention();
    await reports("signed");
    const told = await attention();
    expect(told?.reason).toContain('reported "signed"');
    const stale = { attention: silent?.id, decision: "abandon", by: "Ada" };
    expect((await run.update("resolve", stale)).refused?.message).toContain("is not open");
    await resolve("retry");
    expect((await status()).waitingFor).toBe("the signature service to finish");
    await run.pass(100);
    await resolve("abandon");
    expect(run.failure).toMatchObject({ type: "Abandoned" });
    expect(run.types.filter((type) => type === "sign")).toHaveLength(1);
  });

  test.each([0, 100])("a cancellation after %i s is decided by a person", async (seconds) => {
    const { run, attention, resolve } = await signing();
    await run.pass(seconds);
    await run.cancel();
    expect((await attention())?.kind).toBe("cancelRequested");
    await resolve("abandon");
    expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
  });

  test("however many words are reported, a person is asked twenty times at most, and shown five of them", async () => {
    const { run, reports, attention, resolve, status } = await signing();
    for (let index = 0; index < 40; index += 1)
      await reports(`word ${index}${"\u0001".repeat(90)}`);
    const { timeline } = await status();
    const questions = timeline.filter(({ event }) =>
      event.startsWith("Needs an operator decision"),
    );
    expect(questions).toHaveLength(20);
    const { reason = "" } = (await attention()) ?? {};
    expect(reason).toContain('"word 0" and "word 1" and "word 2"');
    expect(reason).toContain("15 more kinds");
    expect(reason).not.toContain("\u0001");
    await resolve("retry");
    expect((await status()).waitingFor).toBe("the signature service to finish");
    // What it is not told of word by word is news too.
    await run.signal("surplus", { count: 7 });
    await resolve("happened", { state: "failed" });
    expect(run.result).toMatchObject({ outcome: "failed" });
  });
});
