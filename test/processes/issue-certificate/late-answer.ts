// What a call brought after everybody had stopped waiting for it, stored as its sender would have done it.
import { sealAnswer } from "../../../src/journal/answers.js";
import { sealersOf } from "../../harness/stack/sealers.js";
import type { TestStack } from "../../harness/stack/stack.js";

/** The row of the step's one call. */
export async function answerLate(
  system: TestStack,
  { workflowId, step }: { workflowId: string; step: string },
  { state, answer }: { state: "answered" | "refused"; answer: object },
): Promise<void> {
  const { rows } = await system.pool.query<{ token: string }>(
    "select token from trustflow.effects where workflow_id = $1 and step = $2",
    [workflowId, step],
  );
  const token = rows[0]?.token ?? "";
  const namespace = system.stack.env["TEMPORAL_NAMESPACE"] ?? "";
  const sealer = await sealersOf(system).of({ namespace, workflowId });
  const sealed = sealAnswer(sealer, token, answer);
  await system.pool.query(
    `update trustflow.effects set state = $2, sealed_answer = $3, lease_until = null, holder = null
     where token = $1`,
    [token, state, sealed],
  );
}
