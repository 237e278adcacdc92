// An affidavit on demand, which has neither a token nor a look-up; an error becomes the update's answer (P2 §4.1, §4.2;
// docs/reading-the-specification.md §2, §3, §9).
import { EffectInFlight, EffectRefused, EffectUnknown } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { UpdateCall } from "../runtime/activity.js";
import { refusalOf } from "../runtime/failure.js";
import type { Refusal } from "../runtime/failure.js";

export interface EviUpdate extends UpdateCall {
  account: string;
  uniqueId: string;
}

export type AffidavitRequestAnswer =
  | { answer: "requested"; requestId: string }
  | { answer: "refused"; reason: string }
  | { answer: "unknown" | "unavailable" };

/**
 * 400 is a refusal with a reason. After a lost answer, and while another attempt is under way, it is `unknown`. Where nothing was
 * sent, it is `unavailable`. `byStatus`: the answers that the provider's statuses have of their own.
 */
export async function affidavitAnswer<Own extends string = never>(
  requesting: Promise<{ requestId: string }>,
  byStatus: Readonly<Record<number, Own>> = {},
): Promise<AffidavitRequestAnswer | { answer: Own }> {
  try {
    const { requestId } = await requesting;
    return { answer: "requested", requestId };
  } catch (error) {
    if (error instanceof EffectUnknown || error instanceof EffectInFlight)
      return { answer: "unknown" };
    if (error instanceof EffectRefused)
      return { answer: "refused", reason: reasonOf(error.refusal as Refusal) };
    if (!(error instanceof ProviderError)) throw error;
    const answer = byStatus[error.status ?? 0];
    if (answer !== undefined) return { answer };
    if (isUnanswered(error)) return { answer: "unavailable" };
    return { answer: "refused", reason: reasonOf(refusalOf(error)) };
  }
}

/** The provider did not get to decide. */
export function isUnanswered({ kind, status }: ProviderError): boolean {
  return kind === "rateLimited" || status === undefined;
}

function reasonOf({ detail, code, status, fields }: Refusal): string {
  const problems = fields.map(({ path, problem }) => (path ? `${path} ${problem}` : problem));
  return detail ?? (problems.join("; ") || `${code ?? status ?? "refused"}`);
}
