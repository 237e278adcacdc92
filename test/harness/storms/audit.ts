// What a load may leave in the tables: the journal rows of each process, each callback once and settled, and nothing else.
import { inboxSettled } from "../stack/inbox.js";
import { tablesOf } from "../stack/postgres.js";
import type { TestStack } from "../stack/stack.js";

/** More callbacks than any process has. */
const MAX_CALLBACKS = 20;
/** More documents than any process of a storm takes or fetches. */
const MAX_DOCUMENTS = 8;

export async function auditTables(
  { pool }: TestStack,
  { processes }: { processes: number },
): Promise<{ tables: Record<string, number>; problems: string[] }> {
  const problems: string[] = [];
  const count = async (from: string): Promise<number> => {
    const sql = `select count(*)::int as n from trustflow.${from}`;
    return (await pool.query<{ n: number }>(sql)).rows[0]?.n ?? 0;
  };
  await inboxSettled({ pool }).catch((error: Error) => problems.push(error.message));
  const tables: Record<string, number> = {};
  for (const name of await tablesOf(pool)) tables[name] = await count(`"${name}"`);

  const { effects: _, callbacks = 0, documents = 0, migrations: __, ...others } = tables;
  const unanswered = await count("effects where state <> 'answered'");
  if (unanswered > 0) problems.push(`${unanswered} effects without an answer`);
  const parked = await count("callbacks where state = 'parked'");
  if (parked > 0) problems.push(`${parked} callbacks are parked`);
  if (callbacks > MAX_CALLBACKS * processes)
    problems.push(`${callbacks} callbacks for ${processes} processes`);
  if (documents > MAX_DOCUMENTS * processes)
    problems.push(`${documents} documents of ${processes} processes`);
  for (const [name, rows] of Object.entries(others))
    if (rows > processes) problems.push(`${rows} rows in ${name}`);
  return { tables, problems };
}

/** How many rows the journal has for these processes. */
export async function journalRows({ pool }: TestStack, workflowIds: string[]): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "select count(*)::int as n from trustflow.effects where workflow_id = any($1)",
    [workflowIds],
  );
  return rows[0]?.n ?? 0;
}
