// Whether a client's key ring is that of the workers, told by what they have written: the status in the memo of each process
// (docs/decisions/0022).
import type { Client } from "@temporalio/client";
import type { PayloadCodec } from "@temporalio/common";
import type { ProcessName } from "../../contracts/registry.js";
import { statusMemo } from "../../contracts/shared/names.js";
import { DecryptionError, UnknownKeyError } from "../../crypto/errors.js";
import { isKeyId } from "../../crypto/key-ring.js";
import { ofTypes } from "./query.js";

/** The newest processes; one that opens is enough. */
const SAMPLES = 10;
const LIMIT_MS = 5_000;
const RUNNING = 1;

/**
 * The ids of the workers' keys, if the codec opens none of the newest memos and one of them proves that its ring is another. Empty where
 * nothing is proven.
 */
export async function foreignKeys(
  client: Client,
  codec: PayloadCodec,
  processes: readonly ProcessName[],
): Promise<string[]> {
  const { connection, options, workflowService } = client;
  const { executions } = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
    workflowService.listWorkflowExecutions({
      namespace: options.namespace,
      query: ofTypes(processes),
      pageSize: SAMPLES,
    }),
  );
  const proven = new Set<string>();
  for (const { memo, status } of executions) {
    const payload = memo?.fields?.[statusMemo];
    if (!payload) continue;
    const error = await codec.decode([payload]).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) return [];
    // A ring that was rotated lacks the keys of closed processes, and is right all the same.
    if (
      error instanceof DecryptionError ||
      (error instanceof UnknownKeyError && status === RUNNING)
    )
      proven.add(Buffer.from(payload.metadata?.["encryption-key-id"] ?? []).toString());
  }
  // A memo that a stranger wrote may say anything there.
  return [...proven].filter(isKeyId).slice(0, SAMPLES);
}
