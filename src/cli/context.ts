// Opens the client or the database for a command, and always closes it.
import type { AnyHandle, Trustflow } from "../client.js";
import { loadConfig } from "../config.js";
import type { Config } from "../config.js";
import type { Pool } from "../postgres/pool.js";
import { openMigratedPool } from "../roles/database.js";
import { requireTemporal } from "../roles/temporal.js";

export async function withTrustflow<T>(work: (trustflow: Trustflow) => Promise<T>): Promise<T> {
  loadConfig();
  await requireTemporal();
  const { Trustflow: Client } = await import("../client.js");
  const trustflow = await Client.connect();
  try {
    return await work(trustflow);
  } finally {
    await trustflow.close();
  }
}

export const idHelp =
  'The ID is "<process>/<business id>", or only the business id if just one process has it.';

/** Finds a process by the ID that a person enters. */
export async function withProcess(
  id: string,
  work: (handle: AnyHandle) => Promise<void>,
): Promise<void> {
  await withTrustflow(async (trustflow) => work(await trustflow.find(id)));
}

export async function withDatabase<T>(
  work: (pool: Pool, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig();
  const pool = await openMigratedPool(config, "cli");
  try {
    return await work(pool, config);
  } finally {
    await pool.end();
  }
}
