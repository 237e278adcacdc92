// The parts of a batch's archive: each is a document with the affidavits of some notices, and the entries of the archive's directory
// for them. What is in a part is not asked for again.
import type { ProcessKey } from "../crypto/data-key.js";
import { transaction } from "../postgres/pool.js";
import type { Pool } from "../postgres/pool.js";

export interface ArchivePart {
  /** From 1, in the order in which they were added. */
  part: number;
  /** `document:<id>`. */
  document: string;
  size: number;
}

const ofBatch = "b.namespace = $1 and b.workflow_id = $2";
const batchId = `(select b.id from trustflow.batches b where ${ofBatch})`;

export class ArchiveParts {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Notices whose affidavits were not asked for yet, in the order of their `EvidenceId`, from after `after` on. */
  async missing(
    { namespace, workflowId }: ProcessKey,
    { after = "", limit }: { after?: string; limit: number },
  ): Promise<{ evidenceId: string; line?: number }[]> {
    const { rows } = await this.#pool.query<{ evidenceId: string; line: number | null }>(
      `select evidence_id as "evidenceId", line from trustflow.batch_items
       where batch = ${batchId} and part is null and evidence_id > $3 order by evidence_id limit $4`,
      [namespace, workflowId, after, limit],
    );
    return rows.map(({ evidenceId, line }) => ({ evidenceId, ...(line !== null && { line }) }));
  }

  async counts({
    namespace,
    workflowId,
  }: ProcessKey): Promise<{ collected: number; missing: number }> {
    const { rows } = await this.#pool.query<{ collected: number; missing: number }>(
      `select count(*) filter (where part > 0)::int as collected, count(*) filter (where (part > 0) is not true)::int as missing
       from trustflow.batch_items where batch = ${batchId}`,
      [namespace, workflowId],
    );
    return rows[0] ?? { collected: 0, missing: 0 };
  }

  /**
   * After the document was stored. `entries`: of the archive's directory, in a form of the caller's. False, and nothing is changed,
   * where another attempt has collected one of these notices meanwhile, or the batch is gone: the document is in no archive.
   */
  add(
    { namespace, workflowId }: ProcessKey,
    { document, size, entries }: { document: string; size: number; entries: Uint8Array },
    evidenceIds: string[],
  ): Promise<boolean> {
    return transaction(this.#pool, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `select b.id from trustflow.batches b where ${ofBatch} for no key update`,
        [namespace, workflowId],
      );
      const batch = rows[0]?.id;
      if (batch === undefined) return false;
      const { rowCount } = await client.query(
        `select from trustflow.batch_items where batch = $1 and evidence_id = any($2) and part is null
         order by evidence_id for update`,
        [batch, evidenceIds],
      );
      if (rowCount !== new Set(evidenceIds).size) return false;
      await client.query(
        `with added as (
           insert into trustflow.batch_parts (batch, part, document, size, entries)
             select $1, coalesce(max(part), 0) + 1, $3, $4, $5 from trustflow.batch_parts where batch = $1
           returning part)
         update trustflow.batch_items i set part = added.part from added where i.batch = $1 and i.evidence_id = any($2)`,
        [batch, evidenceIds, document, size, entries],
      );
      return true;
    });
  }

  /** The provider has none of these notices' affidavits, and they are not asked for again. */
  async noteNone({ namespace, workflowId }: ProcessKey, evidenceIds: string[]): Promise<void> {
    await this.#pool.query(
      `update trustflow.batch_items set part = 0 where batch = ${batchId} and evidence_id = any($3) and part is null`,
      [namespace, workflowId, evidenceIds],
    );
  }

  async list({ namespace, workflowId }: ProcessKey): Promise<ArchivePart[]> {
    const { rows } = await this.#pool.query<ArchivePart>(
      `select part, document, size::float8 as size from trustflow.batch_parts where batch = ${batchId} order by part`,
      [namespace, workflowId],
    );
    return rows;
  }

  /** As they were added. */
  async entries({ namespace, workflowId }: ProcessKey, part: number): Promise<Buffer> {
    const { rows } = await this.#pool.query<{ entries: Buffer }>(
      `select entries from trustflow.batch_parts where batch = ${batchId} and part = $3`,
      [namespace, workflowId, part],
    );
    if (!rows[0]) throw new RangeError(`the archive has no part ${part}`);
    return rows[0].entries;
  }

  /** After the archive was stored and the documents of its parts were deleted. The notices stay collected. */
  async remove({ namespace, workflowId }: ProcessKey): Promise<void> {
    await this.#pool.query(`delete from trustflow.batch_parts where batch = ${batchId}`, [
      namespace,
      workflowId,
    ]);
  }
}
