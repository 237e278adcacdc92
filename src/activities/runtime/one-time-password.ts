// Says what the answer or the error of a call about a one-time password means. After a lost answer the process continues, because the
// holder may have the code. The result of a submitted code is the update's answer (docs/reading-the-specification.md §5, §9).
import type { PriorOccurrence, StepHistory } from "../../journal/journal.js";
import { EffectInFlight, EffectRefused, EffectUnknown } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { refusalOf } from "./failure.js";
import type { AttemptMode, Refusal } from "./failure.js";

/** `maybe`: the answer was lost, so the holder may have a code. */
export interface Sent {
  sent: "yes" | "maybe";
  /** How many codes were sent so far, this one and those of earlier runs included; absent: one more than before. */
  codes?: number;
}

/** The code that the process begins with, and what its earlier runs did with codes. */
export interface FirstCode extends Sent {
  /** A code that was submitted: accepted, or still in doubt. */
  earlier?: PriorOccurrence;
}

/** The result of an update that asks for another code. After `refused`, no code was sent. */
export type SentAgain = Sent | { sent: "refused"; providerCode?: string };

/** With `isOpen` the provider may have accepted the code, and there is no look-up. */
export type OtpResult =
  | { verdict: "accepted" | "wrong" | "expired" | "unavailable" }
  | {
      verdict: "unknown";
      providerCode?: string;
      problem?: string;
      isOpen: boolean;
      /** The try that is open, where it is another one. */
      occurrence?: string;
    };

/** The first code; `steps` are the journal's. While an operator's decision is awaited (`watch`), a lost answer stays an error. */
export async function firstCode(
  context: StepHistories,
  steps: { send: string; try: string },
  sending: Promise<unknown>,
  mode: AttemptMode,
): Promise<FirstCode> {
  const isLost = (error: unknown) => error instanceof EffectUnknown && mode !== "watch";
  const sent = await sentUnless(isLost, sending);
  const { standing } = await context.readStepHistory(steps.try);
  return {
    sent,
    ...(await codesOf(context, steps.send)),
    ...(standing && { earlier: { ...standing } }),
  };
}

/** Does not wait until the lease of a lost attempt ends. */
export async function resendResultOf(
  context: StepHistories,
  step: string,
  sending: Promise<unknown>,
): Promise<SentAgain> {
  try {
    const sent = await sentUnless(isUnanswered, sending);
    return { sent, ...(await codesOf(context, step)) };
  } catch (error) {
    const saysNo =
      error instanceof ProviderError && ["protocol", "accessDenied"].includes(error.kind);
    const refusal = saysNo ? error : refusalIn(error);
    if (!refusal) throw error;
    return { sent: "refused", ...(refusal.code && { providerCode: refusal.code }) };
  }
}

interface StepHistories {
  readStepHistory(step: string): Promise<StepHistory>;
}

async function codesOf(context: StepHistories, step: string): Promise<{ codes: number }> {
  const { made } = await context.readStepHistory(step);
  return { codes: Math.max(1, made) };
}

async function sentUnless(
  isLost: (error: unknown) => boolean,
  sending: Promise<unknown>,
): Promise<Sent["sent"]> {
  try {
    await sending;
    return "yes";
  } catch (error) {
    if (isLost(error)) return "maybe";
    throw error;
  }
}

/** `verdictOf` returns what a clean refusal says about the code; undefined: the refusal is about something else. */
export function tryResultOf(
  error: unknown,
  verdictOf: (refusal: Refusal) => "wrong" | "expired" | undefined,
): OtpResult {
  const refusal = refusalIn(error);
  const verdict = refusal && verdictOf(refusal);
  if (verdict) return { verdict };
  if (isUnanswered(error)) {
    const { cause } = error;
    if (!(cause instanceof ProviderError)) return unknown(undefined, true);
    const { code, status, problem } = cause;
    return { ...unknown(status === undefined ? undefined : code, true), problem };
  }
  if (refusal) return unknown(refusal.code, false);
  if (error instanceof ProviderError && error.kind === "protocol")
    return unknown(error.code, false);
  if (error instanceof ProviderError && error.kind === "accessDenied")
    return { verdict: "unavailable" };
  throw error;
}

/** The provider's clean refusal, new or from the journal. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof EffectRefused) return error.refusal as Refusal;
  if (error instanceof ProviderError && error.kind === "invalidRequest") return refusalOf(error);
  return undefined;
}

/** There is no look-up, or the lost attempt of another worker still holds the row. */
export function isUnanswered(error: unknown): error is Error {
  return error instanceof EffectUnknown || error instanceof EffectInFlight;
}

function unknown(code: string | undefined, isOpen: boolean): OtpResult & { verdict: "unknown" } {
  return { verdict: "unknown", isOpen, ...(code === undefined ? {} : { providerCode: code }) };
}
