// Questions with a time limit: what the process does where the time was not enough.
import { CancellationScope } from "@temporalio/workflow";
import type { Decided } from "../runtime/attention.js";
import type { AnyFlow } from "../runtime/flow.js";
import { untilTimeIsUp } from "../runtime/steps.js";

/** Longer than any process runs. */
const WITHOUT_END_MS = 3_650 * 86_400_000;

/**
 * Asks for `waitMs` and for the time that reading takes, and then on with an open attention. After `retry` it asks for that time
 * again without one. Undefined where a person decides to go on without the answer.
 */
export async function askUntilAnswered<T>(
  flow: AnyFlow,
  { step, reason, waitMs }: { step: string; reason: string; waitMs: number },
  ask: (waitMs: number) => Promise<T>,
): Promise<T | undefined> {
  for (let leftMs = waitMs; ; leftMs = 0) {
    const answer = await untilTimeIsUp(() => ask(leftMs));
    if (answer !== undefined) return answer;
    const first = await askWithAttention(flow, step, reason, ask);
    if ("answer" in first) return first.answer;
    if (first.decision === "abandon") throw flow.lifecycle.abandoned(step, first);
    if (first.decision === "happened") return undefined;
  }
}

/** Returns what comes first: the answer, or the decision of a person. */
async function askWithAttention<T>(
  { attentions }: AnyFlow,
  step: string,
  reason: string,
  ask: (waitMs: number) => Promise<T>,
): Promise<{ answer: T } | Decided> {
  const attention = attentions.open({
    step: { name: step, journaled: false, happened: {} },
    kind: "unavailable",
    reason,
  });
  const scope = new CancellationScope();
  const asking = scope.run(async () => ({ answer: await ask(WITHOUT_END_MS) }));
  asking.catch(() => undefined);
  try {
    return await Promise.race([asking, attention.decided]);
  } finally {
    scope.cancel();
    attentions.close(attention);
  }
}
