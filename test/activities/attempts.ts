// What the tests of the activities' runtime share: a provider's error, and one attempt of an activity around a piece of work.
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import type { Logger } from "@temporalio/worker";
import { Circuits } from "../../src/activities/runtime/circuit-breaker.js";
import type { Effect, EffectHandlers, SendFailure } from "../../src/journal/journal.js";
import { EffectRefused } from "../../src/journal/journal.js";
import type { ProblemKind } from "../../src/contracts/shared/problem-kind.js";
import { ProviderError } from "../../src/providers/errors/provider-error.js";

type Description = ConstructorParameters<typeof ProviderError>[0];
export type CancelReason = Parameters<MockActivityEnvironment["cancel"]>[0];
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
  work: (cancel: (reason?: CancelReason) => void) => Promise<T>,
  info: NonNullable<Environment[0]> = {},
  {
    logger = new DefaultLogger("ERROR"),
    metricMeter,
    onHeartbeat,
  }: { logger?: Logger; metricMeter?: object; onHeartbeat?(left: unknown): void } = {},
): Promise<T> {
  const environment = new MockActivityEnvironment(
    { scheduledTimestampMs: Date.now(), currentAttemptScheduledTimestampMs: Date.now(), ...info },
    { logger, ...(metricMeter && { metricMeter }) } as Environment[1],
  );
  if (onHeartbeat) environment.on("heartbeat", onHeartbeat);
  return environment.run(() => work((reason) => environment.cancel(reason)));
}

/** As `inAttempt`, of a process of its own. */
export const inProcess = <T>(work: () => Promise<T>) =>
  inAttempt(work, { namespace: "default", workflowExecution: { workflowId: "w", runId: "r" } });

/** Does with one call what the journal does, without rows. */
const journalWithoutRows = {
  addOwner: async () => undefined,
  async perform<R>({ step, token }: Effect, handlers: EffectHandlers<R>): Promise<R> {
    const open = handlers.openError?.();
    if (open) throw open;
    try {
      return await handlers.send({
        token,
        idempotencyToken: token,
        attempt: 1,
        leftMs: () => 60_000,
      });
    } catch (error) {
      const failure: SendFailure = handlers.sendFailureOf(error);
      throw failure.kind === "refused" ? new EffectRefused(step, failure.refusal) : error;
    }
  },
};

/** What the calls of one account need, where no row is looked at. */
export const depsWithoutRows = (account: object, more: object = {}) =>
  ({
    accounts: { default: account },
    environmentOf: () => "sandbox",
    journal: journalWithoutRows,
    digests: { of: () => "", same: () => true },
    circuits: new Circuits({ probeMs: 1_000, failures: 5 }),
    ...more,
  }) as never;
