// Callbacks about the notices of a batch, as a relay has claimed them.
import { randomUUID } from "node:crypto";
import type { BatchItems, HeardItem, ProcessKey } from "../../../src/batch/items/items.js";
import type { Pool } from "../../../src/postgres/pool.js";

export const kinds = ["Sent", "Delivered", "Read", "Closed", "Failed"];

export type Heard = Partial<Omit<HeardItem, "id">> & { kind: string };

export async function claimCallbacks(
  pool: Pool,
  batch: ProcessKey,
  claim: string,
  heard: Heard[],
  cameAt?: Date,
): Promise<HeardItem[]> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into trustflow.callbacks
       (address, identifier, provider, namespace, workflow_id, size, body, claim, claimed_until, received_at)
     select 'a', gen_random_uuid(), 'evi-notice', $1, $2, 1, 'x', $3, clock_timestamp() + interval '1 minute',
       coalesce($5, clock_timestamp())
     from generate_series(1, $4) returning id`,
    [batch.namespace, batch.workflowId, claim, heard.length, cameAt ?? null],
  );
  return heard.map((one, index) => ({
    ...{ id: rows[index]?.id ?? "", at: "2026-01-01T00:00:00.000Z", evidenceId: "n" },
    ...{ rank: kinds.indexOf(one.kind) + 1, ...one },
  }));
}

export async function hearAll(
  pool: Pool,
  items: BatchItems,
  batch: ProcessKey,
  heard: Heard[],
  cameAt?: Date,
): Promise<void> {
  const claim = randomUUID();
  await items.keep(claim, await claimCallbacks(pool, batch, claim, heard, cameAt));
}
