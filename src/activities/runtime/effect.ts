// The shared way of every effect through the journal: who it is for, its token, its digest, and what an error proves
// (docs/design.md §6, docs/reading-the-specification.md §0).
import { activityInfo, cancellationSignal } from "@temporalio/activity";
import { isLocked } from "../../journal/errors.js";
import type { OwnedDocument } from "../../journal/ownership.js";
import { effectToken } from "../../journal/token.js";
import type {
  Effect,
  Journal,
  LookUpFinding,
  Performance,
  Verdict,
} from "../../journal/journal.js";
import { effectClassOf } from "../../providers/effect-classes.js";
import type { Operation, Provider } from "../../providers/effect-classes.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { CircuitOpenError } from "./circuit-breaker.js";
import { InvalidInput, refusalOf } from "./failure.js";
import type { AttemptMode } from "./failure.js";

export interface EffectReference {
  step: string;
  occurrence: string;
}

/** Keyed digests of what a caller sent (docs/design.md §2). */
export interface Digests {
  of(value: unknown): string;
  same(value: unknown, stored: string): boolean;
}

export interface EffectOf<P extends Provider> {
  reference: EffectReference;
  provider: P;
  operation: Operation<P>;
  account: string;
  /** What another run must bring again; the account is added. */
  input: unknown;
  mode: AttemptMode;
  /** Those that its call sends. */
  documents?: OwnedDocument[];
}

export interface Calls<A> {
  /** Why a send would fail fast now, if so. */
  closed?(): Error | undefined;
  /** One HTTP call; `token` is the row's, by which the provider can be asked later. */
  send(send: { token: string; idempotencyToken: string; signal: AbortSignal }): Promise<A>;
  lookUp?(token: string): Promise<A | undefined>;
  /** What an empty look-up is worth; without it, it proves that nothing exists. */
  lookUpFinding?(): Promise<LookUpFinding>;
}

export async function performEffect<A, P extends Provider>(
  journal: Journal,
  digests: Digests,
  of: EffectOf<P>,
  calls: Calls<A>,
): Promise<A> {
  const { namespace, workflowId } = execution();
  const { reference, provider, operation, account, mode } = of;
  const digested = { account, input: of.input };
  const effect: Effect = {
    ...reference,
    token: effectToken(namespace, workflowId, reference.step, reference.occurrence),
    namespace,
    workflowId,
    provider,
    operation,
    account,
    effectClass: classOf(effectClassOf(provider, operation) as Effect["effectClass"], calls),
    digest: digests.of(digested),
    sameDigest: (stored) => digests.same(digested, stored),
    ...(of.documents && { documents: of.documents }),
  };
  const performance: Performance<A> = {
    ...calls,
    verdict,
    send: ({ token, idempotencyToken, deadline }) => {
      const left = AbortSignal.timeout(Math.max(1, deadline.getTime() - Date.now()));
      const signal = AbortSignal.any([cancellationSignal(), left]);
      return calls.send({ token, idempotencyToken, signal });
    },
  };
  return journal.perform(effect, performance, { watchOnly: mode === "watch" });
}

/** An account without a look-up leaves nobody to ask: its `lookup` operations are `once`. */
function classOf(
  declared: Effect["effectClass"],
  { lookUp }: Pick<Calls<unknown>, "lookUp">,
): Effect["effectClass"] {
  return declared === "lookup" && !lookUp ? "once" : declared;
}

/** What an error of the one HTTP call proves. */
function verdict(error: unknown): Verdict {
  if (error instanceof InvalidInput || isLocked(error)) return { kind: "notSent" };
  if (!(error instanceof ProviderError) || error.effect === "unknown") return { kind: "noAnswer" };
  if (error.kind === "invalidRequest") return { kind: "refused", refusal: refusalOf(error) };
  return {
    kind: "notSent",
    renewToken: error.status === 403 && !(error instanceof CircuitOpenError),
  };
}

/** The process that the running activity belongs to. */
export function execution(): { namespace: string; workflowId: string } {
  const { namespace, workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error("not started by a workflow");
  return { namespace, workflowId: workflowExecution.workflowId };
}
