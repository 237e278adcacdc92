// The updates, calls and times around the dialogue of a one-time password (docs/reading-the-specification.md §5).
import { expect, test } from "vitest";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { ApplicationFailure, getCurrentDetails, proxyActivities } from "@temporalio/workflow";
import { issueCertificate } from "../../../src/workflows/issue-certificate/workflow.js";
import { OneTimePassword } from "../../../src/workflows/shared/one-time-password.js";
import type { OtpResult } from "../../../src/activities/runtime/one-time-password.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

interface Activities {
  send(given: { occurrence: string; seconds: number }): Promise<{ sent: "yes" }>;
  validate(given: { code: string; occurrence: string; seconds: number }): Promise<OtpResult>;
  watch(given: object): Promise<{ verdict: OtpResult["verdict"] | "again" }>;
}

const spans = {
  holderDeadlineSeconds: 600,
  otpTries: 2,
  otpResends: 1,
  resendSpacingSeconds: 60,
  answerSeconds: 18,
};

/** A workflow whose result is the outcome of the dialogue; without `isBegun` the first code is out when the test says so. */
async function start({ stopOnUnknown = false, isBegun = true, fakes = {} } = {}) {
  let first!: { isSent: () => void; isRefused: (error: Error) => void };
  const begun = new Promise<void>((isSent, isRefused) => (first = { isSent, isRefused }));
  if (isBegun) first.isSent();

  let flow!: Flow<never, ReturnType<typeof plainView>>;
  let otp!: OneTimePassword;
  const run = await WorkflowRun.start(() => {
    flow = new Flow(plainView);
    const provider = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });
    const calls = {
      provider: "p",
      operation: "validate",
      send: (occurrence: string, seconds: number) => provider.send({ occurrence, seconds }),
      try: (code: string, occurrence: string, seconds: number) =>
        provider.validate({ code, occurrence, seconds }),
      decideOpen: (open: object) => provider.watch(open),
    };
    otp = new OneTimePassword(flow, calls, { stopOnUnknown });
    return flow.lifecycle.run({
      main: async () => {
        await begun;
        otp.begin(spans, { sent: "yes" });
        if (await otp.isAccepted()) flow.status.ownOutcome = "accepted";
      },
      result: () => flow.status.ownOutcome,
    });
  }, fakes);
  const submit = (code: unknown = "123") => run.update("submitOtp", { code });
  const resend = () => run.update("resendOtp");
  const awaitOtp = () => run.update("awaitOtp");
  const last = () => run.calls.at(-1)!;
  return { run, flow, otp, first, submit, resend, awaitOtp, last };
}

test("while it waits for the code, the details show the command that enters it", async () => {
  const { submit, last } = await start();
  expect(getCurrentDetails()).toContain("\ntrustflow otp sendPostal/test\n");
  await submit();
  await last().answer({ verdict: "accepted" });
  expect(getCurrentDetails()).not.toContain("trustflow otp");
});

test("while the first code is being sent, the status says that it is waited for", async () => {
  const fakes = { prepare: () => ({ ...place, settings: {} }), enroll: () => ({ certIdOtp: 7 }) };
  const input = { disposableHolder: {}, disposableContacts: {} } as never;
  const run = await WorkflowRun.start(() => issueCertificate(input), fakes, "issueCertificate");
  expect(run.open.map(({ type }) => type)).toEqual(["sendOtp"]);
  expect(await run.status()).toMatchObject({
    phase: "waiting",
    waitingFor: "the provider to send the code",
  });
});

test("an open try says when the code was tried", async () => {
  const { run, submit, last } = await start({ stopOnUnknown: true });
  await submit();
  await run.pass(4);
  await last().fail({ kind: "unknownOutcome" });
  const { from, until } = last().input.attempts[0];
  expect(last().type).toBe("watch");
  expect(Date.parse(until) - Date.parse(from)).toBe(4_000);
});

test("a code is tried with the update's id and the time that is left; the accepted one ends the wait", async () => {
  const { run, submit, last } = await start();
  const answer = await submit();
  expect(last()).toMatchObject({
    type: "validate",
    input: { code: "123", occurrence: "update-1", seconds: 18 },
  });
  await last().answer({ verdict: "accepted" });
  expect(answer).toEqual({ answer: { answer: "accepted" } });
  expect(run.result).toBe("accepted");
});

test.each([null, "", " ", 7, "x".repeat(101)])("%j is refused as a code", async (code) => {
  const { run, submit } = await start();
  const { refused } = await submit(code);
  expect(refused?.message).toBe("Invalid input: code: must be the code that the holder received");
  expect(run.calls).toEqual([]);
});

test("a code beside another member is refused, because only a code alone is masked", async () => {
  const { run } = await start();
  const { refused } = await run.update("submitOtp", { code: "123456", requestId: "r-1" });
  expect(refused?.message).toBe("Invalid input: requestId: is not known");
  expect(run.calls).toEqual([]);
});

test("a second code waits for the first call, and is answered by what that one brought", async () => {
  const { run, submit, last } = await start();
  const [one, other] = [await submit(), await submit("456")];
  expect(run.calls).toHaveLength(1);
  await last().answer({ verdict: "accepted" });
  expect([one.answer, other.answer]).toEqual([{ answer: "accepted" }, { answer: "accepted" }]);
  expect(run.calls).toHaveLength(1);
});

test("a code that waits too long for another call is answered unavailable, in time", async () => {
  const { run, submit } = await start();
  await submit();
  const other = await submit("456");
  await run.pass(14);
  expect(other.answer).toBeUndefined();
  await run.pass(1);
  expect(other).toEqual({ answer: { answer: "unavailable" } });
  expect(run.calls).toHaveLength(1);
});

test("a code that waited has less time for its call", async () => {
  const { run, submit, last } = await start();
  await submit();
  await submit("456");
  await run.pass(10);
  await last().answer({ verdict: "wrong" });
  expect(last().input).toEqual({ code: "456", occurrence: "update-2", seconds: 8 });
});

test("before the first code is out, an update waits five seconds for it", async () => {
  const { run, submit } = await start({ isBegun: false });
  const answer = await submit();
  await run.pass(4);
  expect(answer).toEqual({});
  await run.pass(1);
  expect(answer).toEqual({ answer: { answer: "unavailable" } });
});

test("when the holder's time is over the process expires, but not before the running call is answered", async () => {
  const { run, submit, last } = await start();
  await run.pass(590);
  await submit();
  await run.pass(10);
  expect(run.result).toBeUndefined();
  await last().answer({ verdict: "wrong" });
  expect(run.result).toBe("expired");
});

test("whether another code comes too soon is asked of the worker, by the time of the newest code", async () => {
  const { run, otp, resend, last } = await start({ fakes: { send: () => ({ sent: "yes" }) } });
  await run.pass(30);
  const early = await resend();
  const until = "2026-01-01T00:01:00.000Z";
  expect(last()).toMatchObject({ type: "isPast", input: { until } });
  await last().answer(false);
  expect(early.answer).toEqual({ answer: "tooSoon", until });
  const late = await resend();
  await last().answer(true);
  expect(late.answer).toEqual({ answer: "sent", resendsLeft: 0 });
  expect([otp.sent, run.types.filter((type) => type === "send")]).toEqual([2, ["send"]]);
});

test("another code is sent under a name of its own, although the update's id is that of the first code", async () => {
  const { run, last } = await start();
  await run.pass(60);
  await run.update("resendOtp", undefined, "0");
  await last().answer(true);
  expect(last()).toMatchObject({ type: "send", input: { occurrence: "0.update" } });
});

test("where repeating is safe, an open try is decided only when the time is over", async () => {
  const { run, submit, resend, last } = await start();
  const answer = await submit();
  await last().fail({ kind: "unknownOutcome" });
  expect(answer.answer).toEqual({ answer: "unknown" });
  await run.pass(599);
  expect(run.types).toEqual(["validate"]);
  await run.pass(1);
  expect(last()).toMatchObject({
    type: "watch",
    input: {
      occurrence: "update-1",
      problem: { kind: "unknownOutcome", provider: "p", operation: "validate" },
    },
  });
  expect((await submit()).answer).toEqual({ answer: "expired" });
  expect((await resend()).answer).toEqual({ answer: "expired" });
  await last().answer({ verdict: "accepted" });
  expect(run.result).toBe("accepted");
});

test.each([
  ["again gives the holder the whole time", "again", 600],
  ["a late no leaves the deadline as it was", "wrong", 100],
] as const)(
  "where repeating is unsafe, the first open try is decided at once; %s",
  async (_, verdict, left) => {
    const { run, submit, last } = await start({ stopOnUnknown: true });
    await run.pass(500);
    await submit();
    await last().fail({ kind: "unknownOutcome" });
    expect(last().type).toBe("watch");
    await last().answer({ verdict });
    await run.pass(left - 1);
    expect(run.result).toBeUndefined();
    await run.pass(1);
    expect(run.result).toBe("expired");
  },
);

test("the end of the process ends the wait", async () => {
  const { run, flow } = await start();
  await run.look(() => flow.lifecycle.withdraw());
  expect(run.result).toBe("cancelledBeforeSubmit");
});

test("while the process waits for a code, its status has the end of the wait, the tries and the codes that are left", async () => {
  const { run, flow, submit, resend, last } = await start();
  const shown = () => {
    const { waitingFor, until, code } = flow.status.current();
    return { waitingFor, until, code };
  };
  const wait = { waitingFor: "the holder's code", until: expect.any(String) };
  expect(shown()).toEqual({ ...wait, code: { triesLeft: 2, resendsLeft: 1 } });
  await submit();
  await last().answer({ verdict: "wrong" });
  expect(shown()).toEqual({ ...wait, code: { triesLeft: 1, resendsLeft: 1 } });
  await run.pass(60);
  await resend();
  await last().answer(true);
  await last().answer({ sent: "yes" });
  expect(shown()).toEqual({ ...wait, code: { triesLeft: 2, resendsLeft: 0 } });
  expect(run.memos.at(-1)?.code).toEqual({ triesLeft: 2, resendsLeft: 0 });
  await submit();
  await last().answer({ verdict: "accepted" });
  expect(shown()).toEqual({});
});

test("a caller that comes before the first code is answered when it is sent, and one that comes later at once", async () => {
  const { run, first, awaitOtp } = await start({ isBegun: false });
  const early = await awaitOtp();
  await run.pass(14);
  expect(early.answer).toBeUndefined();
  await run.look(first.isSent);
  const sent = { answer: "sent", triesLeft: 2, resendsLeft: 1 };
  expect(early).toEqual({ answer: sent });
  expect(await awaitOtp()).toEqual({ answer: sent });
  expect(run.calls).toEqual([]);
});

test("without a code the caller is answered after 15 seconds, and may ask again", async () => {
  const { run, first, awaitOtp } = await start({ isBegun: false });
  const early = await awaitOtp();
  await run.pass(15);
  expect(early).toEqual({ answer: { answer: "notYet" } });
  await run.look(first.isSent);
  expect((await awaitOtp()).answer).toMatchObject({ answer: "sent" });
});

test("a process that fails before its first code answers at once, and does not wait for its caller", async () => {
  const { run, first, awaitOtp } = await start({ isBegun: false });
  const early = await awaitOtp();
  await run.look(() => first.isRefused(ApplicationFailure.nonRetryable("no", "NotAccepted")));
  expect(early).toEqual({ answer: { answer: "notAwaited" } });
  expect(run.failure).toMatchObject({ type: "NotAccepted" });
});

test("no code is awaited any more once the tries and the further codes are over", async () => {
  const { submit, resend, awaitOtp, last } = await start({ stopOnUnknown: true });
  await submit();
  await last().fail({ kind: "unknownOutcome" });
  expect(await awaitOtp()).toEqual({ answer: { answer: "notAwaited" } });
  expect((await resend()).answer).toMatchObject({ answer: "limitReached" });
});
