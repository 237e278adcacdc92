// Opens the client or the database for a command; closes what has to be closed.
import { loadWithAccounts } from "../providers/accounts.js";
import type { AnyHandle, Trustflow } from "../client.js";
import type { Config } from "../config/config.js";
import type { Pool } from "../postgres/pool.js";
import { openMigratedPool } from "../roles/database.js";
import { requireTemporal } from "../roles/temporal.js";
import { usageError } from "./output/exit.js";

export async function withTrustflow<T>(work: (trustflow: Trustflow) => Promise<T>): Promise<T> {
  loadWithAccounts();
  await requireTemporal();
  const { Trustflow: Client } = await import("../client.js");
  const trustflow = await Client.connect();
  try {
    return await work(trustflow);
  } finally {
    await trustflow.close();
  }
}

/** The argument of a command that is about a process. */
export const processId =
  '"<process>/<business id>", or only the business id if just one process has it';

/** Finds a process by the ID that a person enters. */
export async function withProcess(
  id: string,
  work: (handle: AnyHandle) => Promise<void>,
): Promise<void> {
  await withTrustflow(async (trustflow) => work(await trustflow.find(id)));
}

export type HandleWith<M extends string> = Extract<AnyHandle, Record<M, unknown>>;

/** Whether the process accepts an update: its handle has the method. */
export function hasCapability<M extends string>(
  handle: AnyHandle,
  method: M,
): handle is HandleWith<M> {
  return method in handle;
}

/** Returns the handle typed with the method, or throws a usage error; `what` names the update in the error. */
export function requireCapability<M extends string>(
  handle: AnyHandle,
  method: M,
  what: string,
): HandleWith<M> {
  if (hasCapability(handle, method)) return handle;
  throw usageError(`${handle.workflowId} accepts no ${what}`);
}

/** A statement of the clean-up may read all of a large table. */
const COMMAND_LIMIT_MS = 3_600_000;

export async function withDatabase<T>(
  work: (pool: Pool, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadWithAccounts();
  const pool = await openMigratedPool(config, "cli", { statementTimeoutMs: COMMAND_LIMIT_MS });
  try {
    return await work(pool, config);
  } finally {
    await pool.end();
  }
}
