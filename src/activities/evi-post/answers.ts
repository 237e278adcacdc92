// What an update's own call is answered with when the provider does not simply do it (docs/reading-the-specification.md §2).
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/shared/messages.js";
import { postalStates } from "../../contracts/shared/names.js";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectRefused,
  EffectUnknown,
} from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { refusalOf } from "../runtime/failure.js";
import type { Refusal } from "../runtime/failure.js";

const tooLate = new Set<string>(postalStates.slice(postalStates.indexOf("Dispatched")));

/** What a state says about a cancellation: `Dispatched` or later is too late (P2 §4.1). */
export function standing(state: string): CancelAnswer | undefined {
  if (state === "Cancelled") return { answer: "cancelled" };
  return tooLate.has(state) ? { answer: "tooLate" } : undefined;
}

/**
 * 403 is the permission; 401 with credentials that can still ask is not the owner; any other refusal, and no answer, is
 * settled by asking.
 */
export async function cancelRefused(
  error: unknown,
  ask: () => Promise<CancelAnswer | undefined>,
): Promise<CancelAnswer> {
  const asked = error instanceof EffectAbsentOnce || error instanceof EffectInFlight;
  if (asked) return { answer: "unknown" };
  const refused = error instanceof EffectRefused;
  if (!refused && !(error instanceof ProviderError)) throw error;
  const status = refused ? (error.refusal as Refusal).status : error.status;
  if (status === 403) return { answer: "notPermitted" };
  if (!refused && (error.kind === "rateLimited" || status === undefined)) {
    return { answer: "unavailable" };
  }
  try {
    const known = await ask();
    return known ?? { answer: status === 401 ? "notOwner" : "unknown" };
  } catch {
    return { answer: "unavailable" };
  }
}

/**
 * 400 is the provider's no, with its reason; a lost answer, and a request that somebody else is sending, are `unknown`; what
 * was not sent is `unavailable`.
 */
export function affidavitRefused(error: unknown): AffidavitAnswer {
  if (error instanceof EffectUnknown || error instanceof EffectInFlight)
    return { answer: "unknown" };
  if (error instanceof EffectRefused)
    return { answer: "refused", reason: reasonOf(error.refusal as Refusal) };
  if (!(error instanceof ProviderError)) throw error;
  if (error.kind === "rateLimited" || error.status === undefined) return { answer: "unavailable" };
  return { answer: "refused", reason: reasonOf(refusalOf(error)) };
}

function reasonOf({ detail, code, status, fields }: Refusal): string {
  const problems = fields.map(({ path, problem }) => (path ? `${path} ${problem}` : problem));
  return detail ?? (problems.join("; ") || `${code ?? status ?? "refused"}`);
}
