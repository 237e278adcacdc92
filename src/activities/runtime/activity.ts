// How every activity of a provider is made: a function of a context and its argument, the same for all providers.
import { countCall } from "./call-metrics.js";
import { CircuitOpenError } from "./circuit-breaker.js";
import type { EffectKey } from "./effect.js";
import { asActivity, execution } from "./failure.js";
import type { AttemptMode } from "./failure.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Provider } from "../../providers/registry.js";
import { AccountMissing, NotAllowed } from "./provider-context.js";
import type { ActivityDependencies, AttemptOf } from "./provider-context.js";

/** The argument of an activity that has an effect in a step. */
export interface StepCall {
  effect: EffectKey;
  mode: AttemptMode;
}

/**
 * An activity that checks the input takes it. The input is unchecked: that of a plain Temporal client is parsed here for the first time.
 */
export interface InputCall {
  input: unknown;
  mode: AttemptMode;
}

/** The argument of an activity that has the effect of an update; it has no patient phase. */
export type UpdateCall = Pick<StepCall, "effect">;

interface Argument {
  account?: string;
  /** The process's input, where it names the account. */
  input?: unknown;
  mode?: AttemptMode;
}

/**
 * Returns the function that makes activities. Each attempt gets a context of its own. An error becomes the failure that
 * the workflow reads; `operation` is what the failure names where the error itself names none.
 */
export function activitiesOf<P extends Provider, D extends ActivityDependencies, C>(
  provider: P,
  deps: D,
  Context: new (provider: P, deps: D, attempt: AttemptOf) => C,
) {
  const { patienceMs, unavailableForMs, invisibleForMs } = deps;
  return <G extends Argument, R>(
    operationOf: string | ((given: G) => string),
    body: (context: C, given: G) => Promise<R>,
  ) =>
    (given: G): Promise<R> => {
      const operation = typeof operationOf === "string" ? operationOf : operationOf(given);
      const { account = accountIn(given.input), mode = "quick" } = given;
      const environment = deps.environmentOf(account);
      const about = { provider, operation, environment, account, mode };
      return asActivity({ ...about, patienceMs, unavailableForMs, invisibleForMs }, async () => {
        try {
          return await body(new Context(provider, deps, { account, mode }), given);
        } catch (error) {
          if (error instanceof CircuitOpenError) countCall(provider, operation, "notAsked");
          if (!(error instanceof NotAllowed)) throw error;
          // Its plan names the account, or its journal: the process waits for a worker that has it, or allows it again.
          const hasBegun =
            given.account !== undefined || (await deps.journal.mayHaveEffect(execution(), account));
          throw hasBegun ? deniedBy(error, { provider, operation, account }) : error;
        }
      });
    };
}

function deniedBy(
  error: NotAllowed,
  { account, ...about }: { provider: Provider; operation: string; account: string },
): ProviderError {
  const of = `account "${account}" of ${about.provider}`;
  const [{ path, problem: rule } = { path: "", problem: "" }] = error.fields;
  const problem =
    error instanceof AccountMissing
      ? `a worker has no ${of}; configure it there again`
      : `the ${of} does not allow what has begun: ${path} ${rule}`;
  return new ProviderError({ kind: "accessDenied", effect: "none", ...about, problem });
}

/** The account that an input names, before the input is known to be valid. */
function accountIn(input: unknown): string {
  const named = (input as { account?: unknown } | null | undefined)?.account;
  return typeof named === "string" ? named : "default";
}
