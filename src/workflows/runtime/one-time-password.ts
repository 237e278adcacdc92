// A one-time password on its way to a holder and back: sent, sent again, tried, until it is accepted, the tries are used up,
// or the holder's time is over (docs/reading-the-specification.md §5). The shared piece of every process with a person in the loop.
import { condition, currentUpdateInfo, proxyActivities } from "@temporalio/workflow";
import type {
  FirstCode,
  Sent,
  SentAgain,
  Tried,
} from "../../activities/runtime/one-time-password.js";
import type { ProcessActivities } from "../../activities/runtime/process.js";
import type { Problem } from "../../contracts/shared/failures.js";
import { resendOtp, submitOtp } from "../../contracts/shared/messages.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import type { OtpAnswer, ResendAnswer } from "../../contracts/shared/messages.js";
import { answerOptions } from "./activity-options.js";
import { answerTo } from "./answers.js";
import { isOver, msUntil, now, secondsAfter, secondsFromNow, timersDecide } from "./clock.js";
import { invalidInput } from "./invalid-input.js";
import type { AnyFlow } from "./flow.js";
import type { LeftOpen } from "./steps.js";
import { until, whenDue } from "./waits.js";

export interface OtpSpans {
  holderDeadlineSeconds: number;
  otpTries: number;
  otpResends: number;
  resendSpacingSeconds: number;
  answerSeconds: number;
}

export interface OtpCalls {
  provider: string;
  /** What tries a code, as the provider names it. */
  operation: string;
  send(occurrence: string, seconds: number): Promise<SentAgain>;
  try(code: string, occurrence: string, seconds: number): Promise<Tried>;
  /** A try was left without an answer: it becomes known, or a person knows, or lets the holder go on (`again`). */
  decideOpen(open: LeftOpen): Promise<{ verdict: Tried["verdict"] | "again" }>;
}

const { isPast } = proxyActivities<ProcessActivities>({
  ...answerOptions,
  startToCloseTimeout: "3 seconds",
  scheduleToCloseTimeout: "3 seconds",
  summary: "Look whether another code may be sent",
});

/** An own call needs so long to be worth its start. */
const shortestCallSeconds = 3;

export class OneTimePassword {
  sent = 0;
  #deadline = now();
  readonly #flow: AnyFlow;
  readonly #calls: OtpCalls;
  readonly #stopOnUnknown: boolean;
  #spans: OtpSpans | undefined;
  /** Before then no other code is sent. */
  #nextCode = now();
  #isTimeUp = false;
  #triesLeft = 0;
  #resendsLeft = 0;
  #busy = false;
  #accepted = false;
  #open: LeftOpen | undefined;

  /** `stopOnUnknown`: a second try is no harmless one, so the first without an answer is a person's matter. */
  constructor(flow: AnyFlow, calls: OtpCalls, options: { stopOnUnknown?: boolean } = {}) {
    this.#flow = flow;
    this.#calls = calls;
    this.#stopOnUnknown = options.stopOnUnknown === true;
    flow.lifecycle.onUpdate(
      submitOtp,
      "The code that the holder entered",
      (given) => this.#submit(given),
      refuseUnlessCode,
    );
    flow.lifecycle.onUpdate(resendOtp, "Send the holder another code", () => this.#resend());
  }

  /** The first code is out. */
  begin(spans: OtpSpans, { sent, codes = 1, earlier }: FirstCode): void {
    this.#spans = spans;
    this.#deadline = secondsFromNow(spans.holderDeadlineSeconds);
    this.#resendsLeft = Math.max(0, spans.otpResends - (codes - 1));
    if (codes === 1) this.#codeIsOut(sent, codes);
    else this.#newest(`${codes} codes were sent before`, codes);
    if (!earlier) return;
    const { occurrence, isAnswered } = earlier;
    if (isAnswered) this.#accepted = true;
    else this.#open = { occurrence, problem: this.#unanswered() };
    this.#note(isAnswered ? "A code was accepted before" : "A code was tried before, unanswered");
  }

  /** Until a code was accepted: true, or the time or the tries are over: false, and the outcome stands. */
  async isAccepted(): Promise<boolean> {
    for (;;) {
      this.#flow.status.effectExists("waiting", this.#flow.status.references, this.#deadline);
      const end = await this.#end();
      const word = typeof end === "string" ? end : (await this.#calls.decideOpen(end)).verdict;
      if (word === "accepted") return true;
      if (end === "expired" || end === "locked") {
        this.#flow.status.ownOutcome = end;
        return false;
      }
      this.#open = undefined;
      // A late answer that says no leaves nothing open: the deadline is what it was.
      if (word === "again") this.#reopen();
    }
  }

  /** A person gives the holder as much time again, and one more code at the least. */
  #reopen(): void {
    this.#deadline = secondsFromNow(this.#spans?.holderDeadlineSeconds ?? 0);
    this.#isTimeUp = false;
    this.#resendsLeft = Math.max(1, this.#resendsLeft);
  }

  /** Waits for the holder, and for an answer that is on its way when the time is over. */
  async #end(): Promise<"accepted" | "expired" | "locked" | LeftOpen> {
    const isInTime = await until(this.#flow, () => this.#isOver(), {
      what: "the holder's code",
      end: this.#deadline,
      summary: "The holder may enter the code",
    });
    this.#isTimeUp = !isInTime;
    await condition(() => !this.#busy);
    if (this.#accepted) return "accepted";
    return this.#open ?? (this.#isLocked() ? "locked" : "expired");
  }

  async #submit({ code }: { code: string }): Promise<OtpAnswer> {
    return this.#alone<OtpAnswer>(
      () => this.#closed() ?? (this.#triesLeft === 0 ? { answer: "locked" } : undefined),
      async (secondsLeft) => {
        const occurrence = currentUpdateInfo()?.id ?? "0";
        const tried = await answerTo(() => this.#calls.try(code, occurrence, secondsLeft()));
        if ("verdict" in tried) return this.#heard(tried, occurrence);
        const verdict = tried.answer;
        return this.#heard(
          verdict === "unknown" ? { verdict, isOpen: true } : { verdict },
          occurrence,
        );
      },
    );
  }

  async #resend(): Promise<ResendAnswer> {
    return this.#alone<ResendAnswer>(
      () => this.#closedForCodes(),
      async (secondsLeft) => {
        const tooSoon = await this.#tooSoon();
        if (tooSoon) return tooSoon;
        const occurrence = currentUpdateInfo()?.id ?? "0";
        const answer = await answerTo(() => this.#calls.send(occurrence, secondsLeft()));
        if ("answer" in answer && answer.answer === "unavailable") return { answer: "unavailable" };
        if ("sent" in answer && answer.sent === "refused") return this.#refused(answer);
        // One that an earlier run has asked for is counted already.
        const { codes = this.sent + 1 } = "sent" in answer ? answer : {};
        if (codes > this.sent) this.#resendsLeft -= 1;
        const isSure = "sent" in answer && answer.sent === "yes";
        this.#codeIsOut(isSure ? "yes" : "maybe", codes);
        return { answer: isSure ? "sent" : "unknown", resendsLeft: this.#resendsLeft };
      },
    );
  }

  #refused({ providerCode }: { providerCode?: string }): ResendAnswer {
    const code = providerCode === undefined ? "" : ` (${providerCode})`;
    this.#note(`Another code was refused by the provider${code}`);
    return { answer: "refused", ...(providerCode === undefined ? {} : { providerCode }) };
  }

  /** One call at a time, within the time that an answer may take. */
  async #alone<A>(
    known: () => A | undefined,
    work: (secondsLeft: () => number) => Promise<A>,
  ): Promise<A | { answer: "unavailable" }> {
    // The code may be out before we know of it.
    const began = now();
    await whenDue(() => this.#spans !== undefined);
    const spans = this.#spans;
    if (!spans) return { answer: "unavailable" };
    const end = secondsAfter(began, spans.answerSeconds);
    const latest = secondsAfter(end, -shortestCallSeconds);
    const isFree = () => !this.#busy;
    // Of several that wait, one goes on and the others wait again.
    while (this.#busy && spans.answerSeconds > shortestCallSeconds)
      if (!(await condition(isFree, msUntil(latest)))) break;
    const answer = known();
    if (answer !== undefined) return answer;
    if (this.#busy) return { answer: "unavailable" };
    this.#busy = true;
    try {
      return await work(() => Math.max(shortestCallSeconds, Math.floor(msUntil(end) / 1_000)));
    } finally {
      this.#busy = false;
    }
  }

  #heard(tried: Tried, occurrence: string): OtpAnswer {
    switch (tried.verdict) {
      case "accepted":
        this.#accepted = true;
        this.#note("Code accepted");
        return { answer: "accepted" };
      case "wrong":
        this.#triesLeft -= 1;
        this.#note(`Code wrong, ${this.#triesLeft} tries left`);
        return { answer: "wrong", triesLeft: this.#triesLeft };
      case "expired":
        this.#note("Code expired: another one has to be sent");
        return { answer: "expired" };
      case "unavailable":
        return { answer: "unavailable" };
      case "unknown": {
        const { providerCode, problem, isOpen } = tried;
        const why = {
          ...(providerCode !== undefined && { code: providerCode }),
          ...(problem !== undefined && { problem }),
        };
        // It may have been a wrong one, whose code nobody has told us.
        this.#triesLeft -= 1;
        if (isOpen) this.#open = { occurrence, problem: { ...this.#unanswered(), ...why } };
        this.#note("Code tried without a clear answer");
        return { answer: "unknown", ...(providerCode === undefined ? {} : { providerCode }) };
      }
    }
  }

  #closed(): OtpAnswer | undefined {
    if (this.#accepted) return { answer: "accepted" };
    if (isOver(this.#deadline, { isOver: this.#isTimeUp })) return { answer: "expired" };
    return this.#open && this.#stopOnUnknown ? { answer: "unknown" } : undefined;
  }

  #closedForCodes(): ResendAnswer | undefined {
    if (this.#accepted || isOver(this.#deadline, { isOver: this.#isTimeUp }))
      return { answer: "expired" };
    if (this.#resendsLeft === 0 || (this.#open && this.#stopOnUnknown))
      return { answer: "limitReached" };
    // In the history of an older release the clock says so at once.
    return timersDecide() || isOver(this.#nextCode)
      ? undefined
      : { answer: "tooSoon", until: this.#nextCode.toISOString() };
  }

  /** The worker is asked for the time: no timer runs for another code that may never be wanted. */
  async #tooSoon(): Promise<ResendAnswer | undefined> {
    if (!timersDecide()) return undefined;
    const until = this.#nextCode.toISOString();
    const answer = await answerTo(() => isPast({ until }));
    if (answer === true) return undefined;
    return answer === false ? { answer: "tooSoon", until } : { answer: "unavailable" };
  }

  #codeIsOut(sent: Sent["sent"], codes: number): void {
    const which = codes === 1 ? "Code sent" : "Code sent again";
    this.#newest(
      sent === "yes" ? which : `${which}, but the answer was lost: it may not arrive`,
      codes,
    );
  }

  /** The newest code of so many may be tried. */
  #newest(event: string, codes: number): void {
    this.sent = codes;
    this.#nextCode = secondsFromNow(this.#spans?.resendSpacingSeconds ?? 0);
    this.#triesLeft = this.#spans?.otpTries ?? 0;
    this.#note(event);
  }

  #isOver(): boolean {
    return this.#accepted || this.#isLocked() || (this.#stopOnUnknown && this.#open !== undefined);
  }

  #isLocked(): boolean {
    return this.#triesLeft === 0 && this.#resendsLeft === 0;
  }

  #unanswered(): Problem {
    const { environment, account } = this.#flow.status;
    const { provider, operation } = this.#calls;
    return { kind: "unknownOutcome", provider, operation, environment, account, fields: [] };
  }

  #note(event: string): void {
    this.#flow.log.note({ source: "process", event });
  }
}

function refuseUnlessCode(given: { code: string }): void {
  const { code } = (given ?? {}) as { code?: unknown };
  // Of one that is sealed, the activity that opens it asks.
  if (isSealed(code) && code.length <= 1_000) return;
  if (typeof code === "string" && code.trim() !== "" && code.length <= 100) return;
  throw invalidInput("code", "must be the code that the holder received");
}
