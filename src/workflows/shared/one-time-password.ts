// The updates, calls, time limits and timeline entries around the dialogue of otp-dialogue.ts. Every process with a holder or
// signer uses it (docs/reading-the-specification.md §5).
import { condition } from "@temporalio/workflow";
import type {
  FirstCode,
  OtpResult,
  SentAgain,
} from "../../activities/runtime/one-time-password.js";
import { awaitOtp, resendOtp, submitOtp } from "../../contracts/shared/messages.js";
import type { otpSettings } from "../../contracts/shared/one-time-password.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import type { AwaitAnswer, OtpAnswer, ResendAnswer } from "../../contracts/shared/messages.js";
import { databaseProxy } from "../runtime/activity-options.js";
import { answerTo, invalidInput, refuseUnknownMembers } from "../runtime/activity-errors.js";
import { msUntil, now, secondsAfter, secondsFromNow } from "../runtime/clock.js";
import type { AnyFlow } from "../runtime/flow.js";
import { otpEndOf, hasEnded, initialOtpState, reduceOtp } from "./otp-dialogue.js";
import type { OpenTry, OtpEvents, OtpState, OtpTodo } from "./otp-dialogue.js";
import type { Attempt, OpenOccurrence } from "../runtime/steps.js";
import { occurrenceOfUpdate } from "../runtime/update-occurrence.js";
import { waitUntil, waitUntilDue } from "../runtime/waits.js";

type OtpSpans = Record<keyof typeof otpSettings, number>;

export interface OtpCalls {
  provider: string;
  /** The call that tries a code has this name at the provider. */
  operation: string;
  send(occurrence: string, seconds: number): Promise<SentAgain>;
  try(code: string, occurrence: string, seconds: number): Promise<OtpResult>;
  /** Waits until the result of a try is known, or an operator decides it or gives the holder another chance (`again`). */
  decideOpen(open: OpenOccurrence): Promise<{ verdict: OtpResult["verdict"] | "again" }>;
}

const { isPast } = databaseProxy("Check whether another code can be sent", 3, 3);

/** The least time that an update needs to start its own call. */
const MIN_CALL_SECONDS = 3;
/** So long an update waits for the first code: an answer comes within 20 seconds. */
const FIRST_CODE_SECONDS = 15;

export class OneTimePassword {
  readonly #flow: AnyFlow;
  readonly #calls: OtpCalls;
  #state: OtpState;
  #spans: OtpSpans | undefined;
  #deadline = now();
  #isTimeUp = false;
  /** The earliest time for another code. */
  #nextCode = now();
  #busy = false;
  readonly #tries = new Map<string, Attempt>();

  /** `stopOnUnknown`: repeating a try is unsafe, so the first try without an answer raises attention. */
  constructor(flow: AnyFlow, calls: OtpCalls, options: { stopOnUnknown?: boolean } = {}) {
    this.#flow = flow;
    this.#calls = calls;
    this.#state = initialOtpState(options.stopOnUnknown === true);
    flow.lifecycle.onUpdate(
      submitOtp,
      "The code that the holder entered",
      (given) => this.#submit(given),
      refuseUnlessCode,
    );
    flow.lifecycle.onUpdate(resendOtp, "Send the holder another code", () => this.#resend());
    flow.lifecycle.onUpdate(awaitOtp, "Wait until the holder's code is sent", () =>
      this.#whenSent(),
    );
  }

  get sent(): number {
    return this.#state.sent;
  }

  /** The first code was sent. */
  begin(spans: OtpSpans, first: FirstCode): void {
    this.#spans = spans;
    this.#deadline = secondsFromNow(spans.holderDeadlineSeconds);
    const { otpTries, otpResends } = spans;
    this.#apply("begun", { otpTries, otpResends, first });
  }

  /** Returns true when a code was accepted, and false when the time or the tries are over; then it sets the outcome. */
  async isAccepted(): Promise<boolean> {
    for (;;) {
      this.#flow.status.effectExists("waiting", this.#flow.status.references, this.#deadline);
      const end = await this.#end();
      if (end === "accepted") return true;
      if (end === "expired" || end === "locked") {
        this.#flow.status.ownOutcome = end;
        return false;
      }
      const { verdict } = await this.#calls.decideOpen(this.#leftOpen(end));
      this.#apply("openTryDecided", { occurrence: end.occurrence, verdict });
      if (verdict === "accepted") return true;
      if (verdict === "again") this.#restartTime();
    }
  }

  /** Waits for the holder, and for an answer in progress when the time is over. */
  async #end(): Promise<ReturnType<typeof otpEndOf>> {
    const { status } = this.#flow;
    status.code = () => ({
      triesLeft: this.#state.triesLeft,
      resendsLeft: this.#state.resendsLeft,
    });
    const isInTime = await waitUntil(this.#flow, () => hasEnded(this.#state), {
      what: "the holder's code",
      end: this.#deadline,
      summary: "Time limit for the holder's code",
    });
    status.code = undefined;
    this.#isTimeUp = !isInTime;
    await condition(() => !this.#busy);
    return otpEndOf(this.#state);
  }

  #restartTime(): void {
    this.#deadline = secondsFromNow(this.#spans?.holderDeadlineSeconds ?? 0);
    this.#isTimeUp = false;
  }

  async #submit({ code }: { code: string }): Promise<OtpAnswer> {
    return this.#alone<OtpAnswer>(
      () => this.#apply("codeEntered", { isTimeUp: this.#isPastDeadline() }),
      async (secondsLeft) => {
        const occurrence = occurrenceOfUpdate();
        const from = now().toISOString();
        const called = await answerTo(() => this.#calls.try(code, occurrence, secondsLeft()));
        this.#tries.set(occurrence, { from, until: now().toISOString() });
        return this.#apply("tried", { occurrence, result: resultOf(called) });
      },
    );
  }

  async #resend(): Promise<ResendAnswer> {
    return this.#alone<ResendAnswer>(
      () => this.#apply("codeWanted", { isTimeUp: this.#isPastDeadline() }),
      async (secondsLeft) => {
        const tooSoon = await this.#tooSoon();
        if (tooSoon) return tooSoon;
        const occurrence = occurrenceOfUpdate();
        const result = await answerTo(() => this.#calls.send(occurrence, secondsLeft()));
        return this.#apply("resent", { result });
      },
    );
  }

  /** A process that fails before its first code does not wait for this answer. */
  async #whenSent(): Promise<AwaitAnswer> {
    const { lifecycle } = this.#flow;
    await waitUntilDue(() => this.#spans !== undefined || lifecycle.isEnding, FIRST_CODE_SECONDS);
    if (lifecycle.isEnding) return { answer: "notAwaited" };
    if (!this.#spans) return { answer: "notYet" };
    const { triesLeft, resendsLeft } = this.#state;
    const isOver = hasEnded(this.#state) || this.#isTimeUp;
    return isOver ? { answer: "notAwaited" } : { answer: "sent", triesLeft, resendsLeft };
  }

  /** Applies the event to the state, carries out what the dialogue returns, and returns the answer. */
  #apply<K extends keyof OtpEvents>(kind: K, event: OtpEvents[K]): OtpTodo<K>["answer"] {
    const { state, todo } = reduceOtp(this.#state, kind, event);
    this.#state = state;
    if (todo.isNewCode) this.#nextCode = secondsFromNow(this.#spans?.resendSpacingSeconds ?? 0);
    for (const note of todo.notes ?? []) this.#flow.log.note(note);
    return todo.answer;
  }

  /** Makes one call at a time, within the time limit of an answer. */
  async #alone<A>(
    known: () => A | undefined,
    work: (secondsLeft: () => number) => Promise<A>,
  ): Promise<A | { answer: "unavailable" }> {
    // The holder may have the code before the process knows that it was sent.
    const began = now();
    await waitUntilDue(() => this.#spans !== undefined);
    const spans = this.#spans;
    if (!spans) return { answer: "unavailable" };
    const end = secondsAfter(began, spans.answerSeconds);
    const latest = secondsAfter(end, -MIN_CALL_SECONDS);
    const isFree = () => !this.#busy;
    // If several wait, one goes on and the others wait again.
    while (this.#busy && spans.answerSeconds > MIN_CALL_SECONDS)
      if (!(await condition(isFree, msUntil(latest)))) break;
    const answer = known();
    if (answer !== undefined) return answer;
    if (this.#busy) return { answer: "unavailable" };
    this.#busy = true;
    try {
      return await work(() => Math.max(MIN_CALL_SECONDS, Math.floor(msUntil(end) / 1_000)));
    } finally {
      this.#busy = false;
    }
  }

  /** Once a code is accepted, the time does not matter. */
  #isPastDeadline(): boolean {
    return !this.#state.isAccepted && this.#isTimeUp;
  }

  /** Gets the time from an activity, because a timer would run even if no other code is ever wanted. */
  async #tooSoon(): Promise<ResendAnswer | undefined> {
    const until = this.#nextCode.toISOString();
    const answer = await answerTo(() => isPast({ until }));
    if (answer === true) return undefined;
    return answer === false ? { answer: "tooSoon", until } : { answer: "unavailable" };
  }

  #leftOpen({ occurrence, ...answered }: OpenTry): OpenOccurrence {
    const { environment, account } = this.#flow.status;
    const { provider, operation } = this.#calls;
    const problem = { provider, operation, environment, account, fields: [], ...answered };
    const tried = this.#tries.get(occurrence);
    const attempts = tried ? [tried] : [];
    return { occurrence, problem: { kind: "unknownOutcome", ...problem }, attempts };
  }
}

/** Without a clear answer the try stays open. */
function resultOf(called: OtpResult | { answer: "unknown" | "unavailable" }): OtpResult {
  if ("verdict" in called) return called;
  return called.answer === "unknown"
    ? { verdict: "unknown", isOpen: true }
    : { verdict: "unavailable" };
}

function refuseUnlessCode(given: { code: string }): void {
  refuseUnknownMembers(given, ["code"]);
  const { code } = (given ?? {}) as { code?: unknown };
  // The activity that opens a sealed code checks its content.
  if (isSealed(code) && code.length <= 1_000) return;
  if (typeof code === "string" && code.trim() !== "" && code.length <= 100) return;
  throw invalidInput("code", "must be the code that the holder received");
}
