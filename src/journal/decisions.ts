// A person's decision on a step, and the withdrawal of a step: written into its rows before the process goes on. next-action.ts
// decides what a decision changes.
import type { Sealer } from "../crypto/data-key.js";
import { transaction } from "../postgres/pool.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import { openDecisions, sealAnswer, sealDecisions } from "./answers.js";
import type { DecisionRecord } from "./answers.js";
import type { EffectClass } from "./effect.js";
import { LeaseRunning } from "./errors.js";
import { nextAction } from "./next-action.js";
import type { PersonAction, PersonCause } from "./next-action.js";
import { chainOf } from "./chain.js";
import { effectOf } from "./row.js";
import type { KnownEffect, Row, State } from "./row.js";
import { mayExist, rowColumns } from "./rows.js";
import { effectToken } from "./effect.js";

export interface StepKey {
  namespace: string;
  workflowId: string;
  step: string;
}

export interface OccurrenceKey extends StepKey {
  occurrence: string;
}

export interface Decision extends Omit<DecisionRecord, "occurrence"> {
  /** With `happened` it is the answer of the step. */
  result?: unknown;
  /** The operator saw that the outcome is unknown, so a confirmed `retry` sends again whatever the look-up says. */
  nobodyKnows?: boolean;
  /** With a note: `retry` sends again even if the first attempt may have arrived. */
  confirmRetry?: boolean;
}

export interface Decided {
  /** The occurrence that the process goes on with. */
  occurrence: string;
  effect: KnownEffect;
}

export type Withdrawal = "withdrawn" | "inFlight" | "answered";

/** `effectClass`: absent where no sender has taken the row. */
interface StepRow extends Row {
  effectClass: EffectClass | null;
  leaseUntil: Date | null;
  decisions: Buffer | null;
}

const stepColumns = `${rowColumns}, effect_class as "effectClass", lease_until as "leaseUntil", sealed_decisions as decisions`;
const FIRST = "0";
/** A row that proves that nothing exists may be of an earlier run with another input: what is written into it now is for any input. */
const forAnyInput = `digest = case when ${mayExist("e")} then digest end, account = case when ${mayExist("e")} then account end`;
const UNIQUE_VIOLATION = "23505";

/** Decides about the occurrence with which the process stands. Idempotent: the same decision, written again, changes nothing. */
export function decide(
  pool: Pool,
  sealer: Sealer,
  key: OccurrenceKey,
  given: Decision,
  leaseMs: number,
): Promise<Decided> {
  return onStep(pool, async (client) => {
    const rows = await lockStep(client, key);
    const before = rows
      .flatMap(({ token, decisions }) => openDecisions(sealer, token, decisions))
      .find((record) => sameDecision(record, given));
    const effect = given.decision === "happened" ? "exists" : effectOfStep(rows);
    if (before) return { occurrence: before.occurrence, effect };
    // Other occurrences of the step may be other effects.
    const chain = chainOf(rows, key.occurrence);
    const row = chain.at(-1) ?? (await addRow(client, key, key.occurrence, "notSent"));
    if (given.decision === "abandon") await hold(client, [...new Set([...rows, row])], leaseMs);
    // An answer that the provider has given meanwhile counts more than the person's decision.
    const occurrence =
      effectOfStep(chain) === "exists"
        ? row.occurrence
        : await apply(client, sealer, key, row, given);
    const { result: _, nobodyKnows: __, ...record } = given;
    const decisions = [
      ...openDecisions(sealer, row.token, row.decisions),
      { ...record, occurrence },
    ];
    await client.query(
      "update trustflow.effects set sealed_decisions = $2, updated_at = clock_timestamp() where token = $1",
      [row.token, sealDecisions(sealer, row.token, decisions)],
    );
    return { occurrence, effect };
  });
}

/**
 * An attempt of the abandoned process may be about to send. So no sender may send for the duration of a lease; by then the
 * attempt is over.
 */
async function hold(client: PoolClient, rows: StepRow[], leaseMs: number): Promise<void> {
  await client.query(
    `update trustflow.effects set lease_until = clock_timestamp() + $2 * interval '1 millisecond' where token = any($1)`,
    [tokensToChange(rows, "abandon", "hold"), leaseMs],
  );
}

/** `withdrawn`: nothing can be sent for the step any more; any other result says why that is too late. */
export function withdraw(pool: Pool, key: StepKey): Promise<Withdrawal> {
  return onStep(pool, async (client) => {
    const rows = await lockStep(client, key);
    if (rows.length === 0) await addRow(client, key, FIRST, "withdrawn");
    const effect = effectOfStep(rows);
    if (effect === "exists") return "answered";
    if (effect === "unknown") return "inFlight";
    await client.query(
      `update trustflow.effects e set state = 'withdrawn', sealed_answer = null, ${forAnyInput}, updated_at = clock_timestamp()
       where token = any($1)`,
      [tokensToChange(rows, "withdrawal", "withdraw")],
    );
    return "withdrawn";
  });
}

// If a sender makes the step's row at the same moment, our insert fails on the unique key; the second try finds that row.
async function onStep<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    return await transaction(pool, work);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    return transaction(pool, work);
  }
}

async function apply(
  client: PoolClient,
  sealer: Sealer,
  key: StepKey,
  row: StepRow,
  given: Decision,
): Promise<string> {
  const action = actionOn(row, causeOf(given));
  switch (action) {
    case "store":
      await client.query(
        `update trustflow.effects e set state = 'answered', sealed_answer = $2, ${forAnyInput}, lease_until = null, holder = null
         where token = $1`,
        [row.token, sealAnswer(sealer, row.token, given.result)],
      );
      return row.occurrence;
    case "leaseRuns":
      throw new LeaseRunning(key.step, row.leaseUntil as Date);
    case "sendAgain":
      await client.query(
        `update trustflow.effects set state = 'notSent', uncertain = true, sealed_answer = null, lease_until = null, holder = null
         where token = $1`,
        [row.token],
      );
      return row.occurrence;
    case "replace": {
      const next = nextOf(row.occurrence);
      await addRow(client, key, next, "notSent");
      await client.query("update trustflow.effects set next_occurrence = $2 where token = $1", [
        row.token,
        next,
      ]);
      return next;
    }
    // The next attempt decides by the row; if the outcome is unknown, it raises attention (`unknownOutcome`).
    case "keep":
    case "hold":
    case "withdraw":
      return row.occurrence;
  }
}

function causeOf(given: Decision): PersonCause {
  if (given.decision !== "retry") return { by: given.decision };
  return { by: "retry", isConfirmed: isConfirmed(given), nobodyKnows: given.nobodyKnows === true };
}

function actionOn(row: StepRow, cause: PersonCause): PersonAction {
  // Nothing was ever sent for a row without a class.
  return nextAction({ ...row, hasOtherInput: false }, row.effectClass ?? "once", cause);
}

/** The rows of the step for which the action is due. */
function tokensToChange(
  rows: StepRow[],
  by: "abandon" | "withdrawal",
  action: PersonAction,
): string[] {
  return rows.filter((row) => actionOn(row, { by }) === action).map(({ token }) => token);
}

/** The validator of `resolve` has the same rule (src/workflows/runtime/attention.ts), for each kind of attention. */
function isConfirmed({ confirmRetry, note }: Decision): boolean {
  return confirmRetry === true && typeof note === "string" && note.trim() !== "";
}

// The rows of a step in the order they were made, locked until the end of the transaction.
async function lockStep(
  client: PoolClient,
  { namespace, workflowId, step }: StepKey,
): Promise<StepRow[]> {
  const { rows } = await client.query<StepRow>(
    `select ${stepColumns} from trustflow.effects
     where namespace = $1 and workflow_id = $2 and step = $3 order by seq for update`,
    [namespace, workflowId, step],
  );
  return rows;
}

async function addRow(
  client: PoolClient,
  key: StepKey,
  occurrence: string,
  state: State,
): Promise<StepRow> {
  const { namespace, workflowId, step } = key;
  const token = effectToken(namespace, workflowId, step, occurrence);
  const { rows } = await client.query<StepRow>(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state) values ($1, $2, $3, $4, $5, $6)
     returning ${stepColumns}`,
    [token, namespace, workflowId, step, occurrence, state],
  );
  return rows[0] as StepRow;
}

function effectOfStep(rows: StepRow[]): KnownEffect {
  const effects = rows.map(effectOf);
  if (effects.includes("exists")) return "exists";
  return effects.includes("unknown") ? "unknown" : "none";
}

function nextOf(occurrence: string): string {
  return /^\d+$/.test(occurrence) ? String(Number(occurrence) + 1) : `${occurrence}+1`;
}

// A new run may use the same attention ids again, so the time is compared too.
function sameDecision(a: Omit<DecisionRecord, "occurrence">, b: Decision): boolean {
  return a.attention === b.attention && a.decision === b.decision && a.by === b.by && a.at === b.at;
}
