// What PostgreSQL's statements cost, for `--cpu-prof`.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Stack } from "../packages/dev/src/stack/stack.js";
import type { Pool } from "../src/postgres/pool.js";

/** From now on; the function that it returns writes them. `pg_stat_statements` has to be loaded at PostgreSQL's start. */
export async function countStatements(
  { postgres }: Stack,
  pool: Pool,
  folder: string,
): Promise<() => Promise<void>> {
  await pool.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
  await postgres?.stop();
  await postgres?.start();
  await pool.query("create extension if not exists pg_stat_statements");
  return () => writeStatements(pool, join(folder, "statements.json"));
}

async function writeStatements(pool: Pool, file: string): Promise<void> {
  const { rows } = await pool.query(
    `select calls, round(total_exec_time::numeric, 1) as ms, round(total_plan_time::numeric, 1) as planning, rows, query
     from pg_stat_statements order by total_exec_time desc limit 40`,
  );
  await writeFile(file, JSON.stringify(rows, undefined, 2));
}
