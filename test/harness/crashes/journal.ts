// What the enumeration reads of the journal: where each effect stands.
import { until, type Field, type Run } from "./run.js";
import type { TestStack } from "../stack/stack.js";

/** Tells the states of the rows of a run's call; undefined for a row that is not there. */
export async function journalStates({ pool }: TestStack, { namespace }: Field) {
  const sql = `select workflow_id || ' ' || step as key, state from trustflow.effects
    where namespace = $1 order by seq desc`;
  const { rows } = await pool.query<{ key: string; state: string }>(sql, [namespace]);
  const states = new Map(rows.map(({ key, state }) => [key, state]));
  return ({ callerId, call: { step, activity } }: Run) =>
    [step ?? activity].flat().map((one) => states.get(`${callerId} ${one}`));
}

/** No sender may still be active. */
export async function leasesOver({ pool }: TestStack, { namespace }: Field): Promise<void> {
  const sql = `select 1 from trustflow.effects
    where namespace = $1 and state = 'sending' and lease_until > clock_timestamp() limit 1`;
  const areOver = async () => (await pool.query(sql, [namespace])).rowCount === 0;
  await until("the leases are over", areOver);
}

/** Another worker has brought every call to its answer, or has told that it cannot: a caller, or by the end of the lease. */
export async function takenOver(system: TestStack, field: Field, runs: Run[]): Promise<void> {
  await Promise.allSettled(runs.map((run) => run.answered()));
  if (runs.some(({ call }) => call.effectClass === "once")) await leasesOver(system, field);
  const answered = runs.filter(
    ({ call }) => call.ask === undefined && !["read", "once"].includes(call.effectClass),
  );
  await until("another worker has taken over", async () => {
    const statesOf = await journalStates(system, field);
    return answered.every((run) => statesOf(run).every((state) => state === "answered"));
  });
}
