// A worker's way to Temporal, and how it gives up its polls at the end; a file of its own, because the native core is slow to load and clients do without it.
import { NativeConnection } from "@temporalio/worker";
import { connectionOptions, reach } from "./connection.js";
import type { ConnectionOverrides } from "./connection.js";

export async function connectWorker(overrides: ConnectionOverrides = {}) {
  const { address, namespace, options } = connectionOptions(overrides);
  const connection = await reach({ address, options }, () => NativeConnection.connect(options));
  return { connection, namespace, options, close: () => connection.close() };
}

const NAME = "TEMPORAL_POLL_SHUTDOWN_INTERRUPT_WAIT_MS";
const WAIT_MS = 1_000;

/**
 * A worker that is made meanwhile has patient polls. A task that the server hands to a poll at the end of the worker is lost until its time
 * is over: an activity is then attempted once more. A server that knows `workerPollCompleteOnShutdown` ends the polls itself; with others
 * the SDK's core can leave them some time to come back with what is due, which it reads from the environment when a worker is made. Only
 * for workers without workflows: its core drops a workflow task that comes so late.
 */
export async function withPatientPolls<T>(make: () => Promise<T>): Promise<T> {
  process.env[NAME] ??= String(WAIT_MS);
  try {
    return await make();
  } finally {
    delete process.env[NAME];
  }
}
