// How many processes wait for a person, as visibility knows it.
import type { Client } from "@temporalio/client";
import { attentionKinds } from "../../contracts/shared/failures.js";
import type { AttentionKind } from "../../contracts/shared/failures.js";
import { searchAttributes } from "../../contracts/shared/names.js";

const LIMIT_MS = 2_000;

/** Counts in the client's namespace; rejects where Temporal does not answer soon. */
export async function countAttentions(client: Client): Promise<Record<AttentionKind, number>> {
  const counted = await client.withDeadline(Date.now() + LIMIT_MS, () =>
    Promise.all(
      attentionKinds.map(async (kind) => {
        const query = `${searchAttributes.attention.name} = "${kind}" and ExecutionStatus = "Running"`;
        return [kind, (await client.workflow.count(query)).count] as const;
      }),
    ),
  );
  return Object.fromEntries(counted) as Record<AttentionKind, number>;
}
