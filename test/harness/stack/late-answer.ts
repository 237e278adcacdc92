// What a call brought after everybody had stopped waiting for it, stored as its sender would have done it.
import pg from "pg";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import type { Stack } from "../../../src/local/stack/stack.js";
import { sealAnswer } from "../../../src/journal/answers.js";
import { ringSealer } from "./sealers.js";

type OfStack = Pick<Stack, "env" | "databaseUrl">;

interface Row {
  workflowId: string;
  step: string;
}

/** The row of the step's one call. */
export function answerLate(
  stack: OfStack,
  row: Row,
  { state, answer }: { state: "answered" | "refused"; answer: object },
): Promise<void> {
  const sealer = ringSealer(KeyRing.parse(stack.env["TRUSTFLOW_KEYS__JOURNAL"] ?? ""));
  return onRow(
    stack,
    row,
    "state = $2, sealed_answer = $3, lease_until = null, holder = null",
    (token) => [state, sealAnswer(sealer, token, answer)],
  );
}

/** As if the worker had been killed in the middle of the call. */
export function holdRow(stack: OfStack, row: Row): Promise<void> {
  const change =
    "holder = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 minute'";
  return onRow(stack, row, change, () => []);
}

async function onRow(
  { databaseUrl: connectionString }: OfStack,
  { workflowId, step }: Row,
  change: string,
  valuesOf: (token: string) => unknown[],
): Promise<void> {
  const database = new pg.Client({ connectionString });
  await database.connect();
  try {
    const { rows } = await database.query<{ token: string }>(
      "select token from trustflow.effects where workflow_id = $1 and step = $2",
      [workflowId, step],
    );
    const token = rows[0]?.token ?? "";
    await database.query(`update trustflow.effects set ${change} where token = $1`, [
      token,
      ...valuesOf(token),
    ]);
  } finally {
    await database.end();
  }
}
