// What the tests of the activities' runtime share: a provider's error, and one attempt of an activity around a piece of work.
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import type { ProblemKind } from "../../src/contracts/shared/problem-kind.js";
import { ProviderError } from "../../src/providers/errors/provider-error.js";

type Description = ConstructorParameters<typeof ProviderError>[0];
type Environment = ConstructorParameters<typeof MockActivityEnvironment>;

export function providerError(
  kind: ProblemKind,
  more: Partial<Omit<Description, "kind">> = {},
): ProviderError {
  const about = { provider: "evi-post", operation: "submit", problem: "a test" };
  return new ProviderError({ ...about, kind, effect: "none", ...more });
}

/** An attempt that begins now; `onHeartbeat` gets what it leaves to the next one. */
export function inAttempt<T>(
  work: (cancel: () => void) => Promise<T>,
  info: NonNullable<Environment[0]> = {},
  { metricMeter, onHeartbeat }: { metricMeter?: object; onHeartbeat?(left: unknown): void } = {},
): Promise<T> {
  const environment = new MockActivityEnvironment(
    { currentAttemptScheduledTimestampMs: Date.now(), ...info },
    { logger: new DefaultLogger("ERROR"), ...(metricMeter && { metricMeter }) } as Environment[1],
  );
  if (onHeartbeat) environment.on("heartbeat", onHeartbeat);
  return environment.run(() => work(() => environment.cancel()));
}
