// What a call about a one-time password means for the process: a lost answer of a sent code is no reason to stop, and what a
// tried code meets is the update's answer (READING §5, §9).
import type { Standing } from "../journal/journal.js";
import { EffectInFlight, EffectRefused, EffectUnknown } from "../journal/errors.js";
import { ProviderError } from "../providers/errors.js";
import { refusalOf } from "./failure.js";
import type { AttemptMode, Refusal } from "./failure.js";

/** `maybe`: the answer was lost, so the holder may have a code. */
export interface Sent {
  sent: "yes" | "maybe";
  /** A code that an earlier run of the process has tried: taken, or left open. */
  earlier?: Standing;
}

/** What the provider made of a code; `isOpen`: it may have been taken, and nobody can say. */
export type Tried =
  | { verdict: "accepted" | "wrong" | "expired" | "unavailable" }
  | { verdict: "unknown"; providerCode?: string; isOpen: boolean };

/**
 * `isOwn`: the own call of an update, which does not wait for the lease of an attempt whose worker is gone. What a person is
 * asked (`watch`) stays open.
 */
export async function sentUnlessLost(
  sending: Promise<unknown>,
  { isOwn, mode }: { isOwn: boolean; mode: AttemptMode },
): Promise<Sent> {
  try {
    await sending;
    return { sent: "yes" };
  } catch (error) {
    const isLost = isOwn ? isLeftOpen(error) : error instanceof EffectUnknown;
    if (isLost && mode !== "watch") return { sent: "maybe" };
    throw error;
  }
}

/** `verdictOf` says what a clean refusal says of the code; undefined: something else was refused. */
export function triedWith(
  error: unknown,
  verdictOf: (refusal: Refusal) => "wrong" | "expired" | undefined,
): Tried {
  const refusal = refusalIn(error);
  const verdict = refusal && verdictOf(refusal);
  if (verdict) return { verdict };
  if (isLeftOpen(error)) {
    const { cause } = error;
    const isAnswer = cause instanceof ProviderError && cause.status !== undefined;
    return unknown(isAnswer ? cause.code : undefined, true);
  }
  if (refusal) return unknown(refusal.code, false);
  if (error instanceof ProviderError && error.kind === "protocol")
    return unknown(error.code, false);
  if (error instanceof ProviderError && error.kind === "accessDenied")
    return { verdict: "unavailable" };
  throw error;
}

/** The provider's clean no, as it came or as the journal kept it. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof EffectRefused) return error.refusal as Refusal;
  if (error instanceof ProviderError && error.kind === "invalidRequest") return refusalOf(error);
  return undefined;
}

/** Nobody can say, or the attempt of a worker that is gone still holds the row. */
export function isLeftOpen(error: unknown): error is Error {
  return error instanceof EffectUnknown || error instanceof EffectInFlight;
}

function unknown(code: string | undefined, isOpen: boolean): Tried {
  return { verdict: "unknown", isOpen, ...(code === undefined ? {} : { providerCode: code }) };
}
