// A worker's way to Temporal; a file of its own, because the native core is slow to load and clients do without it.
import { NativeConnection } from "@temporalio/worker";
import { connectionOptions, reach } from "./connection.js";
import type { ConnectionOverrides } from "./connection.js";

export async function connectWorker(overrides: ConnectionOverrides = {}) {
  const { address, namespace, options } = connectionOptions(overrides);
  const connection = await reach({ address, options }, () => NativeConnection.connect(options));
  return { connection, namespace, close: () => connection.close() };
}
