// What a load may leave in the tables: one journal row for each effect, each callback once and settled, and nothing else.
import { createPool } from "../../../src/postgres/pool.js";
import { eventually } from "../outages/wait.js";
import type { TestStack } from "../stack/stack.js";

export interface TableAudit {
  tables: Record<string, number>;
  problems: string[];
}

/** More callbacks than any process has. */
const MAX_CALLBACKS = 20;
/** More documents than any process of a storm takes or fetches. */
const MAX_DOCUMENTS = 8;

export async function auditTables(
  { stack }: TestStack,
  expected: { processes: number; effects: number },
): Promise<TableAudit & { tables: Record<string, number> }> {
  const pool = createPool(stack.databaseUrl, { max: 1 });
  const problems: string[] = [];
  const number = async (sql: string): Promise<number> => {
    const { rows } = await pool.query<{ n: number }>(`select (${sql})::int as n`);
    return rows[0]?.n ?? 0;
  };
  try {
    await eventually("no callback waits", async () => {
      return (
        (await number("select count(*) from trustflow.callbacks where state = 'waiting'")) === 0
      );
    }).catch((error: Error) => problems.push(error.message));
    const { rows } = await pool.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'trustflow' order by 1",
    );
    const tables: Record<string, number> = {};
    for (const { name } of rows)
      tables[name] = await number(`select count(*) from trustflow."${name}"`);

    const { effects = 0, callbacks = 0, documents = 0, migrations: _, ...others } = tables;
    if (effects !== expected.effects)
      problems.push(`${effects} rows in the journal for ${expected.effects} effects`);
    const unanswered = await number(
      "select count(*) from trustflow.effects where state <> 'answered'",
    );
    if (unanswered > 0) problems.push(`${unanswered} effects without an answer`);
    if (callbacks > MAX_CALLBACKS * expected.processes)
      problems.push(`${callbacks} callbacks for ${expected.processes} processes`);
    if (documents > MAX_DOCUMENTS * expected.processes)
      problems.push(`${documents} documents of ${expected.processes} processes`);
    const parked = await number("select count(*) from trustflow.callbacks where state = 'parked'");
    if (parked > 0) problems.push(`${parked} callbacks are parked`);
    for (const [name, count] of Object.entries(others))
      if (count > expected.processes) problems.push(`${count} rows in ${name}`);
    return { tables, problems };
  } finally {
    await pool.end();
  }
}
