// Every call to a provider, counted and timed for Prometheus; the worker serves it with the SDK's own metrics.
import { log, metricMeter } from "@temporalio/activity";
import { providerCallSeconds } from "../../contracts/shared/names.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { ProviderErrorKind } from "../../providers/errors/provider-error.js";

type Call = (...args: never[]) => Promise<unknown>;

/** The provider's client, whose functions are named as their operations; activities call none but this. */
export function measured<C extends Record<keyof C, Call>>(provider: string, client: C): C {
  const calls = Object.entries<Call>(client).map(([operation, call]) => {
    const measuredCall = async (...args: never[]) => {
      const began = performance.now();
      try {
        const answer = await call(...args);
        countCall(provider, operation, "ok");
        return answer;
      } catch (error) {
        countCall(provider, operation, error instanceof ProviderError ? error.kind : "defect");
        if (error instanceof ProviderError && error.mismatch !== undefined) reportMismatch(error);
        throw error;
      } finally {
        metricMeter
          .createHistogram(providerCallSeconds, "float", "s", "Duration of calls to providers")
          .record((performance.now() - began) / 1_000, { provider, operation });
      }
    };
    return [operation, measuredCall] as const;
  });
  return Object.fromEntries(calls) as C;
}

/** An answer that is not what the specification describes: a matter of the configuration, or of what stands in between. */
function reportMismatch(error: ProviderError): void {
  const { provider, operation, status = 0, problem, mismatch = "none", member = "" } = error;
  const told = { provider, operation, status, problem };
  log.warn("The provider's answer is not what its specification describes", told);
  metricMeter
    .createCounter(
      "trustflow_provider_answers_refused",
      undefined,
      "Answers of providers that are not what their specification describes",
    )
    .add(1, { provider, operation, status: String(status), mismatch, member });
}

/** `notAsked`: an attempt that ended at an open circuit; `defect`: our own fault. */
export function countCall(
  provider: string,
  operation: string,
  result: ProviderErrorKind | "ok" | "notAsked" | "defect",
): void {
  metricMeter
    .createCounter("trustflow_provider_calls", undefined, "Calls to providers by their result")
    .add(1, { provider, operation, result });
}
