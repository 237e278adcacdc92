// Counts and times every call to a provider, for Prometheus, and logs each one that fails. The worker serves these metrics with those of
// the SDK.
import { log, metricMeter } from "@temporalio/activity";
import { counterOf, metrics } from "../../contracts/shared/metrics.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import { noteAnswered } from "./failure.js";

const durations = metrics.providerCallSeconds;

/** A call to a provider that is counted by its result, with its duration. */
export function measured<A extends unknown[], T>(
  provider: string,
  operation: string,
  call: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    const began = performance.now();
    try {
      const answer = await call(...args);
      noteAnswered(operation);
      countCall(provider, operation, "ok");
      return answer;
    } catch (error) {
      countCall(provider, operation, error instanceof ProviderError ? error.kind : "defect");
      if (error instanceof ProviderError) logFailure(error);
      if (error instanceof ProviderError && error.mismatch !== undefined) countMismatch(error);
      throw error;
    } finally {
      metricMeter
        .createHistogram(durations.name, "float", "s", durations.help)
        .record((performance.now() - began) / 1_000, { provider, operation });
    }
  };
}

/** Names of ours and of the provider, with the request id that its support asks for: no value of the request or of the answer. */
function logFailure(error: ProviderError): void {
  const { provider, operation, host, status, code, requestId, problem, mismatch, kind } = error;
  const told = { provider, operation, host, status, code, requestId, problem, kind };
  if (mismatch !== undefined)
    log.warn("The provider's answer does not match its specification", told);
  else if (isUsual.has(kind)) log.info("The provider refused a call", told);
  else log.warn("A call to the provider failed", told);
}

/** The caller's input is wrong, or an item is too new to be shown: nothing is wrong with provider or account. */
const isUsual: ReadonlySet<ProblemKind> = new Set<ProblemKind>(["invalidRequest", "notVisibleYet"]);

/** The answer is not what the specification describes: the configuration may be wrong, or a proxy may have answered. */
function countMismatch(error: ProviderError): void {
  const { provider, operation, status = 0, mismatch = "none", member = "" } = error;
  metricMeter
    .createCounter(...counterOf(metrics.providerAnswersRefused))
    .add(1, { provider, operation, status: String(status), mismatch, member });
}

/** `notAsked`: the attempt ended at an open circuit; `defect`: an error of our own code. `meter`: outside of an activity. */
export function countCall(
  provider: string,
  operation: string,
  result: ProblemKind | "ok" | "notAsked" | "defect",
  meter: Pick<typeof metricMeter, "createCounter"> = metricMeter,
): void {
  meter.createCounter(...counterOf(metrics.providerCalls)).add(1, { provider, operation, result });
}
