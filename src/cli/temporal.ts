// A connection to Temporal for commands that read no payload, so that they need no key.
import { Connection } from "@temporalio/client";
import { connectionOptions, TemporalUnreachable } from "../temporal/connection.js";

export async function connectPlain(): Promise<{ connection: Connection; namespace: string; address: string }> {
  const { address, namespace, options } = connectionOptions();
  try {
    return { connection: await Connection.connect(options), namespace, address };
  } catch (error) {
    const { details } = error as { details?: string };
    throw new TemporalUnreachable(address, details ?? (error as Error).message);
  }
}
