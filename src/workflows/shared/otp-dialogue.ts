// The dialogue about a one-time password as a pure reducer: from state and event to new state and actions. It reads no clock
// and makes no call; one-time-password.ts does both (docs/reading-the-specification.md §5).
import type {
  FirstCode,
  OtpResult,
  Sent,
  SentAgain,
} from "../../activities/runtime/one-time-password.js";
import type { OtpAnswer, ResendAnswer } from "../../contracts/shared/messages.js";

/** A try without a clear answer: the code may have been accepted. */
export interface OpenTry {
  occurrence: string;
  /** The provider's error code and text, if its answer has them. */
  code?: string;
  problem?: string;
}

export interface OtpState {
  /** Set when repeating a try is unsafe: after the first unanswered try, neither a code is tried nor another one sent. */
  readonly stopOnUnknown: boolean;
  readonly triesPerCode: number;
  /** How many codes were sent, in earlier runs too. */
  readonly sent: number;
  readonly triesLeft: number;
  readonly resendsLeft: number;
  readonly isAccepted: boolean;
  /** Each one may have been accepted, and is decided by itself; the newest is last. */
  readonly openTries: readonly OpenTry[];
}

export interface OtpEvents {
  begun: { otpTries: number; otpResends: number; first: FirstCode };
  codeEntered: { isTimeUp: boolean };
  /** The provider was called with a code. */
  tried: { occurrence: string; result: OtpResult };
  /** The holder requested another code. */
  codeWanted: { isTimeUp: boolean };
  /** The provider was asked to send another code. */
  resent: { result: SentAgain | { answer: "unknown" | "unavailable" } };
  /** It is clear what became of this try, or a person gives the holder another chance (`again`). */
  openTryDecided: { occurrence: string; verdict: OtpResult["verdict"] | "again" };
}

interface Answers {
  begun: undefined;
  /** Undefined: the code is to be tried. */
  codeEntered: OtpAnswer | undefined;
  tried: OtpAnswer;
  /** Undefined: another code is to be sent. */
  codeWanted: ResendAnswer | undefined;
  resent: ResendAnswer;
  openTryDecided: undefined;
}

export interface OtpTodo<K extends keyof OtpEvents> {
  answer: Answers[K];
  /** New entries of the timeline. */
  notes?: string[];
  /** A new code was sent: the waiting time before the next one begins. */
  isNewCode?: boolean;
}

type Transition<K extends keyof OtpEvents> = (
  state: OtpState,
  event: OtpEvents[K],
) => { state: OtpState; todo: OtpTodo<K> };

export function initialOtpState(stopOnUnknown: boolean): OtpState {
  const counts = { triesPerCode: 0, sent: 0, triesLeft: 0, resendsLeft: 0 };
  return { stopOnUnknown, ...counts, isAccepted: false, openTries: [] };
}

export function reduceOtp<K extends keyof OtpEvents>(
  state: OtpState,
  kind: K,
  event: OtpEvents[K],
): ReturnType<Transition<K>> {
  const transition: Transition<K> = transitions[kind];
  return transition(state, event);
}

/** Whether the holder has nothing more to do. */
export function hasEnded(state: OtpState): boolean {
  return state.isAccepted || isLocked(state) || isStopped(state);
}

/** How the dialogue has ended, when it has ended or its time is over. */
export function otpEndOf(state: OtpState): "accepted" | "locked" | "expired" | OpenTry {
  if (state.isAccepted) return "accepted";
  return state.openTries.at(-1) ?? (isLocked(state) ? "locked" : "expired");
}

const transitions: { [K in keyof OtpEvents]: Transition<K> } = {
  begun: (state, { otpTries, otpResends, first: { sent, codes = 1, earlier } }) => {
    const notes = [codes === 1 ? sentNote(sent, codes) : `${codes} codes were sent before`];
    if (earlier)
      notes.push(
        earlier.isAnswered
          ? "A code was accepted before"
          : "A code was tried before without an answer",
      );
    return {
      state: {
        ...state,
        triesPerCode: otpTries,
        triesLeft: otpTries,
        resendsLeft: Math.max(0, otpResends - (codes - 1)),
        sent: codes,
        isAccepted: earlier?.isAnswered === true,
        openTries: openOf(earlier),
      },
      todo: { answer: undefined, notes, isNewCode: true },
    };
  },

  codeEntered: (state, { isTimeUp }) => ({
    state,
    todo: { answer: answerWithoutTry(state, isTimeUp) },
  }),

  tried: (state, { occurrence, result }) => {
    const triesLeft = state.triesLeft - 1;
    switch (result.verdict) {
      case "accepted":
        return {
          state: { ...state, isAccepted: true },
          todo: { answer: { answer: "accepted" }, notes: ["Code accepted"] },
        };
      case "wrong":
        return {
          state: { ...state, triesLeft },
          todo: {
            answer: { answer: "wrong", triesLeft },
            notes: [`Code wrong, ${triesLeft} ${triesLeft === 1 ? "try" : "tries"} left`],
          },
        };
      case "expired":
        return {
          state,
          todo: {
            answer: { answer: "expired" },
            notes: ["Code expired: a new code is needed"],
          },
        };
      case "unavailable":
        return { state, todo: { answer: { answer: "unavailable" } } };
      case "unknown": {
        const { providerCode, problem, isOpen } = result;
        const openTry: OpenTry = {
          occurrence: result.occurrence ?? occurrence,
          ...(providerCode === undefined ? {} : { code: providerCode }),
          ...(problem === undefined ? {} : { problem }),
        };
        return {
          // The provider may have counted it as a wrong code.
          state: {
            ...state,
            triesLeft,
            ...(isOpen && { openTries: [...without(state.openTries, openTry), openTry] }),
          },
          todo: {
            answer: { answer: "unknown", ...(providerCode === undefined ? {} : { providerCode }) },
            notes: ["Code tried without a clear answer"],
          },
        };
      }
    }
  },

  codeWanted: (state, { isTimeUp }) => ({
    state,
    todo: { answer: answerWithoutSending(state, isTimeUp) },
  }),

  resent: (state, { result }) => {
    if ("answer" in result && result.answer === "unavailable")
      return { state, todo: { answer: { answer: "unavailable" } } };
    if ("sent" in result && result.sent === "refused") {
      const { providerCode } = result;
      const code = providerCode === undefined ? "" : ` (${providerCode})`;
      return {
        state,
        todo: {
          answer: { answer: "refused", ...(providerCode === undefined ? {} : { providerCode }) },
          notes: [`The provider refused to send another code${code}`],
        },
      };
    }
    const { sent = "maybe", codes = state.sent + 1 } = "sent" in result ? result : {};
    // A code that an earlier run requested is already counted.
    const resendsLeft = codes > state.sent ? state.resendsLeft - 1 : state.resendsLeft;
    return {
      state: { ...state, sent: codes, triesLeft: state.triesPerCode, resendsLeft },
      todo: {
        answer: { answer: sent === "yes" ? "sent" : "unknown", resendsLeft },
        notes: [sentNote(sent, codes)],
        isNewCode: true,
      },
    };
  },

  // A late answer that says no leaves nothing open: the deadline is what it was. A person's `again` brings one more code at least.
  openTryDecided: (state, { occurrence, verdict }) => {
    const resendsLeft = verdict === "again" ? Math.max(1, state.resendsLeft) : state.resendsLeft;
    const openTries = without(state.openTries, { occurrence });
    const isAccepted = verdict === "accepted";
    return { state: { ...state, isAccepted, openTries, resendsLeft }, todo: { answer: undefined } };
  },
};

function openOf(earlier: FirstCode["earlier"]): OpenTry[] {
  if (!earlier || earlier.isAnswered) return [];
  return [...(earlier.before ?? []), earlier.occurrence].map((occurrence) => ({ occurrence }));
}

function without(tries: readonly OpenTry[], { occurrence }: OpenTry): OpenTry[] {
  return tries.filter((each) => each.occurrence !== occurrence);
}

/** The answer to a code that is not tried; undefined: it is tried. */
function answerWithoutTry(state: OtpState, isTimeUp: boolean): OtpAnswer | undefined {
  if (state.isAccepted) return { answer: "accepted" };
  if (isTimeUp) return { answer: "expired" };
  if (isStopped(state)) return { answer: "unknown" };
  return state.triesLeft === 0 ? { answer: "locked" } : undefined;
}

/** The answer when no other code is sent; undefined: one is sent. */
function answerWithoutSending(state: OtpState, isTimeUp: boolean): ResendAnswer | undefined {
  if (state.isAccepted || isTimeUp) return { answer: "expired" };
  const isOver = state.resendsLeft === 0 || isStopped(state);
  return isOver ? { answer: "limitReached" } : undefined;
}

function sentNote(sent: Sent["sent"], codes: number): string {
  const which = codes === 1 ? "Code sent" : "Code sent again";
  return sent === "yes" ? which : `${which}, but the answer was lost: the code may not arrive`;
}

function isLocked({ triesLeft, resendsLeft }: OtpState): boolean {
  return triesLeft === 0 && resendsLeft === 0;
}

function isStopped({ stopOnUnknown, openTries }: OtpState): boolean {
  return stopOnUnknown && openTries.length > 0;
}
