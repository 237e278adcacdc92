// The dialogue about a one-time password: what each event makes of the state, what is answered and noted
// (docs/reading-the-specification.md §5).
import { describe, expect, test } from "vitest";
import type { OtpResult } from "../../../src/activities/runtime/one-time-password.js";
import {
  otpEndOf,
  hasEnded,
  initialOtpState,
  reduceOtp,
} from "../../../src/workflows/shared/otp-dialogue.js";
import type { OtpEvents, OtpState } from "../../../src/workflows/shared/otp-dialogue.js";

const begun = (
  first: OtpEvents["begun"]["first"] = { sent: "yes" },
  { stopOnUnknown = false } = {},
) => reduceOtp(initialOtpState(stopOnUnknown), "begun", { otpTries: 2, otpResends: 2, first });

const unanswered: OtpResult = { verdict: "unknown", isOpen: true };
const tried = (state: OtpState, result: OtpResult, occurrence = "u-1") =>
  reduceOtp(state, "tried", { occurrence, result });
const entered = (state: OtpState, isTimeUp = false) =>
  reduceOtp(state, "codeEntered", { isTimeUp }).todo.answer;
const wanted = (state: OtpState, isTimeUp = false) =>
  reduceOtp(state, "codeWanted", { isTimeUp }).todo.answer;
const resent = (state: OtpState, result: OtpEvents["resent"]["result"] = { sent: "yes" }) =>
  reduceOtp(state, "resent", { result });

describe("the first code", () => {
  test.each([
    [{ sent: "yes" }, ["Code sent"], 2],
    [{ sent: "maybe" }, ["Code sent, but the answer was lost: the code may not arrive"], 2],
    [{ sent: "yes", codes: 1 }, ["Code sent"], 2],
    [{ sent: "yes", codes: 3 }, ["3 codes were sent before"], 0],
    [{ sent: "yes", codes: 9 }, ["9 codes were sent before"], 0],
  ] as const)("%j", (first, notes, resendsLeft) => {
    const { state, todo } = begun(first);
    expect(todo).toEqual({ answer: undefined, notes, isNewCode: true });
    expect(state).toMatchObject({
      sent: "codes" in first ? first.codes : 1,
      triesLeft: 2,
      resendsLeft,
      isAccepted: false,
    });
    expect(entered(state)).toBeUndefined();
  });

  test("a code that an earlier run had accepted ends the dialogue at once", () => {
    const { state, todo } = begun({ sent: "yes", earlier: { occurrence: "u", isAnswered: true } });
    expect(todo.notes).toEqual(["Code sent", "A code was accepted before"]);
    expect(hasEnded(state)).toBe(true);
    expect(otpEndOf(state)).toBe("accepted");
  });

  test("a try that an earlier run left open stays open", () => {
    const { state, todo } = begun({ sent: "yes", earlier: { occurrence: "u", isAnswered: false } });
    expect(todo.notes).toEqual(["Code sent", "A code was tried before without an answer"]);
    expect(otpEndOf(state)).toEqual({ occurrence: "u" });
  });

  test("each try that an earlier run left open is decided", () => {
    const earlier = { occurrence: "u-2", isAnswered: false, before: ["u-1"] };
    const { state } = begun({ sent: "yes", earlier });
    const decided = { occurrence: "u-2", verdict: "wrong" } as const;
    expect(otpEndOf(reduceOtp(state, "openTryDecided", decided).state)).toEqual({
      occurrence: "u-1",
    });
  });
});

describe("what the provider makes of a code", () => {
  const { state } = begun();

  test("accepted ends it, and later codes are answered without a call", () => {
    const { state: after, todo } = tried(state, { verdict: "accepted" });
    expect(todo).toEqual({ answer: { answer: "accepted" }, notes: ["Code accepted"] });
    expect([hasEnded(after), otpEndOf(after)]).toEqual([true, "accepted"]);
    expect(entered(after, true)).toEqual({ answer: "accepted" });
    expect(wanted(after)).toEqual({ answer: "expired" });
  });

  test("wrong takes a try away; without tries the holder needs another code", () => {
    const first = tried(state, { verdict: "wrong" });
    expect(first.todo).toEqual({
      answer: { answer: "wrong", triesLeft: 1 },
      notes: ["Code wrong, 1 try left"],
    });
    const second = tried(first.state, { verdict: "wrong" });
    expect(second.todo.answer).toEqual({ answer: "wrong", triesLeft: 0 });
    expect(entered(second.state)).toEqual({ answer: "locked" });
    expect(hasEnded(second.state)).toBe(false);
    expect(wanted(second.state)).toBeUndefined();
    expect(resent(second.state).state).toMatchObject({ triesLeft: 2, resendsLeft: 1, sent: 2 });
  });

  test.each([
    [{ verdict: "expired" }, ["Code expired: a new code is needed"]],
    [{ verdict: "unavailable" }, undefined],
  ] as const)("%j leaves the state as it is", (result, notes) => {
    const { state: after, todo } = tried(state, result);
    expect(after).toEqual(state);
    expect(todo).toEqual({ answer: { answer: result.verdict }, ...(notes && { notes }) });
  });

  test("a try without an answer counts, and stays open with what the provider said", () => {
    const result = { ...unanswered, providerCode: "500", problem: "broken" };
    const { state: after, todo } = tried(state, result);
    expect(todo).toEqual({
      answer: { answer: "unknown", providerCode: "500" },
      notes: ["Code tried without a clear answer"],
    });
    expect(after.triesLeft).toBe(1);
    expect(otpEndOf(after)).toEqual({ occurrence: "u-1", code: "500", problem: "broken" });
    expect([hasEnded(after), entered(after)]).toEqual([false, undefined]);
  });

  test("a refusal that says nothing of the code leaves nothing open", () => {
    const { state: after } = tried(state, { verdict: "unknown", isOpen: false });
    expect([after.openTries, after.triesLeft]).toEqual([[], 1]);
  });

  test("of several tries without an answer each is decided, the newest first", () => {
    let { state: open } = tried(tried(state, unanswered, "u-1").state, unanswered, "u-2");
    // The provider was asked about the first one again.
    ({ state: open } = tried(open, { ...unanswered, occurrence: "u-1" }, "u-3"));
    for (const occurrence of ["u-1", "u-2"]) {
      expect(otpEndOf(open)).toEqual({ occurrence });
      ({ state: open } = reduceOtp(open, "openTryDecided", { occurrence, verdict: "wrong" }));
    }
    expect(otpEndOf(open)).toBe("expired");
  });

  test("where repeating is unsafe, an open try ends the dialogue until it is decided", () => {
    const { state: safe } = begun({ sent: "yes" }, { stopOnUnknown: true });
    const { state: after } = tried(safe, unanswered);
    expect(hasEnded(after)).toBe(true);
    expect(entered(after)).toEqual({ answer: "unknown" });
    expect(wanted(after)).toEqual({ answer: "limitReached" });
    const { state: decided } = reduceOtp(after, "openTryDecided", {
      occurrence: "u-1",
      verdict: "wrong",
    });
    expect([hasEnded(decided), entered(decided)]).toEqual([false, undefined]);
  });
});

describe("another code", () => {
  test("each one takes a resend away and gives all tries again", () => {
    const first = resent(begun().state);
    expect(first.todo).toEqual({
      answer: { answer: "sent", resendsLeft: 1 },
      notes: ["Code sent again"],
      isNewCode: true,
    });
    const second = resent(first.state);
    expect(second.todo.answer).toEqual({ answer: "sent", resendsLeft: 0 });
    expect(wanted(second.state)).toEqual({ answer: "limitReached" });
  });

  test.each([{ answer: "unknown" }, { sent: "maybe" }] as const)(
    "after %j the holder may have it: it counts",
    (result) => {
      const { state, todo } = resent(begun().state, result);
      expect(todo.answer).toEqual({ answer: "unknown", resendsLeft: 1 });
      expect(todo.notes).toEqual([
        "Code sent again, but the answer was lost: the code may not arrive",
      ]);
      expect([state.sent, todo.isNewCode]).toEqual([2, true]);
    },
  );

  test("a code that an earlier run requested is not counted twice", () => {
    const { state, todo } = resent(begun({ sent: "yes", codes: 2 }).state, {
      sent: "yes",
      codes: 2,
    });
    expect(todo.answer).toEqual({ answer: "sent", resendsLeft: 1 });
    expect(state.sent).toBe(2);
  });

  test("a refusal and an absent provider send nothing", () => {
    const { state } = begun();
    const refused = resent(state, { sent: "refused", providerCode: "7" });
    expect(refused.state).toEqual(state);
    expect(refused.todo).toEqual({
      answer: { answer: "refused", providerCode: "7" },
      notes: ["The provider refused to send another code (7)"],
    });
    const absent = resent(state, { answer: "unavailable" });
    expect(absent).toEqual({ state, todo: { answer: { answer: "unavailable" } } });
  });
});

test("without tries and without resends it is locked", () => {
  let { state } = begun({ sent: "yes", codes: 3 });
  for (const _ of [1, 2]) ({ state } = tried(state, { verdict: "wrong" }));
  expect([hasEnded(state), otpEndOf(state)]).toEqual([true, "locked"]);
});

test("another chance brings at least one more code, a late no does not", () => {
  const { state } = tried(begun({ sent: "yes", codes: 3 }).state, unanswered);
  const decided = (before: OtpState, verdict: "again" | "wrong") =>
    reduceOtp(before, "openTryDecided", { occurrence: "u-1", verdict }).state;
  const again = decided(state, "again");
  expect([again.openTries, again.resendsLeft]).toEqual([[], 1]);
  const no = decided(state, "wrong");
  expect([no.openTries, no.resendsLeft]).toEqual([[], 0]);
  const many = decided(begun().state, "again");
  expect(many.resendsLeft).toBe(2);
});
