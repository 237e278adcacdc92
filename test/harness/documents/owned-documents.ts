// Which documents the database says a process owns, as sorted `<kind> <uri>`.
import { createPool } from "../../../src/postgres/pool.js";
import type { TestStack } from "../stack/stack.js";

export async function ownedDocuments(
  { stack }: TestStack,
  { workflowId }: { workflowId: string },
): Promise<string[]> {
  const pool = createPool(stack.env["DATABASE_URL"] ?? "", { max: 1 });
  try {
    const { rows } = await pool.query<{ owned: string }>(
      "select kind || ' document:' || id as owned from trustflow.documents where workflow_id = $1",
      [workflowId],
    );
    return rows.map(({ owned }) => owned).toSorted();
  } finally {
    await pool.end();
  }
}

/** The same of what a result or an input names. */
export function namedDocuments(
  named: { kind: string; document: object & { uri?: string } }[],
): string[] {
  return named.map(({ kind, document }) => `${kind} ${document.uri}`).toSorted();
}
