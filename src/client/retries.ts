// Adds to a status what Temporal alone knows of the calls that the process waits for: which of them failed and are made again, and, before
// the first answer, where they are made.
import type { Problem } from "../contracts/shared/failures.js";
import { causeIn, ownCauseOf } from "../contracts/shared/failures.js";
import { ProcessStatus, RetriedCall } from "../contracts/shared/status.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";

const Place = ProcessStatus.pick({ environment: true, account: true }).strip();

export function withOpenCalls<S extends ProcessStatus>(status: S, calls: OpenCall[]): S {
  if (status.phase === "ended") return status;
  const retrying = retriesIn(calls);
  const place = calls.map(({ heartbeat }) => Place.safeParse(heartbeat).data).find(Boolean);
  return {
    ...status,
    ...(status.environment === "unknown" && place),
    ...(retrying.length > 0 && { retrying }),
  };
}

export function retriesIn(calls: OpenCall[]): RetriedCall[] {
  return calls.flatMap((call) => RetriedCall.safeParse(retryOf(call)).data ?? []);
}

/** Whether one of the calls may soon fail or succeed. A poll that goes well may take days. */
export function isCalling(calls: OpenCall[]): boolean {
  return calls.some(({ lastFailure }) => !lookingOnly.has(lastFailure?.type));
}

/**
 * A retry that sends nothing, and only looks: the provider shows no change, or does not show an item yet; or an operator has to decide, as
 * the attention says, and the answer may still become known.
 */
const lookingOnly = new Set<unknown>(["unchanged", "notVisibleYet", "unknownOutcome", "protocol"]);

function retryOf({ activity, attempt, nextAttemptAt, lastFailure }: OpenCall): object | undefined {
  if (!lastFailure || lookingOnly.has(lastFailure.type)) return undefined;
  const { type, detail } = lastFailure;
  const problem = detail as Problem | undefined;
  const { provider, operation, host, requestId } = problem ?? {};
  return {
    ...(problem
      ? { provider, operation, host, cause: causeIn(problem), requestId }
      : { provider: "trustflow", operation: activity, cause: withoutProblem(type) }),
    attempt,
    nextAttemptAt: nextAttemptAt?.toISOString(),
  };
}

/** A kind of problem whose details this client cannot open, or an error of our own. */
const withoutProblem = (type: string) => (/^[a-z]\w{1,80}$/.test(type) ? type : ownCauseOf(type));
