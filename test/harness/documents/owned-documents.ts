// Which documents the database says a process owns, as sorted `<kind> <uri>`.
import type { TestStack } from "../stack/stack.js";

export async function ownedDocuments(
  { pool }: TestStack,
  { workflowId }: { workflowId: string },
): Promise<string[]> {
  const sql =
    "select kind || ' document:' || id as owned from trustflow.documents where workflow_id = $1";
  const { rows } = await pool.query<{ owned: string }>(sql, [workflowId]);
  return rows.map(({ owned }) => owned).toSorted();
}
