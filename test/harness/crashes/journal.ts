// What the enumeration reads of the journal: where each effect stands.
import { createPool } from "../../../src/postgres/pool.js";
import { until } from "./run.js";
import type { Field, Run } from "./run.js";
import type { CallUnderTest } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";

/** `<workflow id> <step>` → the state of its first row. */
export async function journalStates(
  { stack }: TestStack,
  namespace: string,
): Promise<Map<string, string>> {
  const pool = createPool(stack.databaseUrl, { max: 1 });
  try {
    const { rows } = await pool.query<{ workflowId: string; step: string; state: string }>(
      `select workflow_id as "workflowId", step, state from trustflow.effects where namespace = $1 order by seq desc`,
      [namespace],
    );
    return new Map(rows.map(({ workflowId, step, state }) => [`${workflowId} ${step}`, state]));
  } finally {
    await pool.end();
  }
}

/** The states of the call's rows in the journal, by `<workflow id> <step>`; undefined for one that is not there. */
export function statesOf(
  { step, activity }: Pick<CallUnderTest, "step" | "activity">,
  workflowId: string,
  states: ReadonlyMap<string, string>,
): (string | undefined)[] {
  return [step ?? activity].flat().map((one) => states.get(`${workflowId} ${one}`));
}

/** No sender may still be active. */
export async function leasesOver({ stack }: TestStack, { namespace }: Field): Promise<void> {
  const pool = createPool(stack.databaseUrl, { max: 1 });
  try {
    await until("the leases are over", async () => {
      const { rowCount } = await pool.query(
        "select 1 from trustflow.effects where namespace = $1 and state = 'sending' and lease_until > clock_timestamp() limit 1",
        [namespace],
      );
      return rowCount === 0;
    });
  } finally {
    await pool.end();
  }
}

/** Another worker has brought every call to its answer, or has told that it cannot: a caller, or by the end of the lease. */
export async function takenOver(system: TestStack, field: Field, runs: Run[]): Promise<void> {
  await Promise.allSettled(runs.map((run) => run.answered()));
  if (runs.some(({ call }) => call.effectClass === "once")) await leasesOver(system, field);
  await until("another worker has taken over", async () => {
    const states = await journalStates(system, field.namespace);
    return runs.every(
      ({ call, workflowId }) =>
        call.ask !== undefined ||
        call.effectClass === "read" ||
        call.effectClass === "once" ||
        statesOf(call, workflowId, states).every((state) => state === "answered"),
    );
  });
}
