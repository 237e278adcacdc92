// The archive of a batch is made of parts: each is a document with the affidavits of some notices, and the entries of the archive's
// directory for them. What is in a part is not asked for again. Once the archive is made, the batch has its reference in place of the
// parts.
import type { ProcessKey } from "../../crypto/data-key.js";
import { transaction } from "../../postgres/pool.js";
import type { Pool, PoolClient } from "../../postgres/pool.js";
import { asShown, batchId, counted, ofBatch, rowsOf, spelt } from "./items.js";

export interface ArchivePart {
  /** From 1, in the order in which they were added. */
  part: number;
  /** `document:<id>`. */
  document: string;
  size: number;
}

export interface MadeArchive {
  uri: string;
  sha256: string;
  size: number;
  mediaType: string;
}

export interface ArchiveCounts {
  /** Notices whose affidavits are in a part, or in the archive that was made of the parts. */
  collected: number;
  /** All others. */
  missing: number;
  /** The missing ones whose answer could not be read. */
  unreadable: number;
}

/** In place of the number of a part. */
const none = { absent: 0, unreadable: -1 } as const;

export class ArchiveParts {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Notices whose affidavits were not asked for yet, in the order of their `EvidenceId`. */
  missing(batch: ProcessKey, limit: number) {
    return rowsOf<{ evidenceId: string; line?: number }>(
      this.#pool,
      batch,
      `select ${asShown} as "evidenceId", line from trustflow.batch_items
       where ${counted} and part is null order by evidence_id limit $3`,
      limit,
    );
  }

  async counts(batch: ProcessKey): Promise<ArchiveCounts> {
    const [counts] = await rowsOf<ArchiveCounts>(
      this.#pool,
      batch,
      `select count(*) filter (where part > 0)::int as collected, count(*) filter (where (part > 0) is not true)::int as missing,
         count(*) filter (where part = ${none.unreadable})::int as unreadable
       from trustflow.batch_items where ${counted}`,
    );
    return counts ?? { collected: 0, missing: 0, unreadable: 0 };
  }

  /**
   * After the document was stored. `entries`: of the archive's directory, in a form of the caller's. False, and nothing is changed,
   * where another attempt has collected one of these notices meanwhile, or has made the archive, or the batch is gone: the document
   * is in no archive.
   */
  add(
    processKey: ProcessKey,
    { document, size, entries }: { document: string; size: number; entries: Uint8Array },
    evidenceIds: string[],
  ): Promise<boolean> {
    const ids = [...new Set(evidenceIds.map(spelt))];
    return transaction(this.#pool, async (client) => {
      const batch = await lockBatch(client, processKey, "and archive_document is null");
      if (batch === undefined) return false;
      const { rowCount } = await client.query(
        `select from trustflow.batch_items where batch = $1 and evidence_id = any($2) and part is null
         order by evidence_id for update`,
        [batch, ids],
      );
      if (rowCount !== ids.length) return false;
      await client.query(
        `with added as (
           insert into trustflow.batch_parts (batch, part, document, size, entries)
             select $1, coalesce(max(part), 0) + 1, $3, $4, $5 from trustflow.batch_parts where batch = $1
           returning part)
         update trustflow.batch_items i set part = added.part from added where i.batch = $1 and i.evidence_id = any($2)`,
        [batch, ids, document, size, entries],
      );
      return true;
    });
  }

  /**
   * The provider has none of these notices' affidavits, or what it answers cannot be read. They are not asked for again before
   * `askAgain`.
   */
  async noteNone(batch: ProcessKey, evidenceIds: string[], why: keyof typeof none): Promise<void> {
    await rowsOf(
      this.#pool,
      batch,
      `update trustflow.batch_items set part = $4 where batch = ${batchId} and evidence_id = any($3) and part is null`,
      evidenceIds.map(spelt),
      none[why],
    );
  }

  /** For the affidavits that could not be read. */
  async askAgain(batch: ProcessKey): Promise<void> {
    await rowsOf(
      this.#pool,
      batch,
      `update trustflow.batch_items set part = null where batch = ${batchId} and part = ${none.unreadable}`,
    );
  }

  list(batch: ProcessKey): Promise<ArchivePart[]> {
    return rowsOf<ArchivePart>(
      this.#pool,
      batch,
      `select part, document, size::float8 as size from trustflow.batch_parts where batch = ${batchId} order by part`,
    );
  }

  /** As they were added. */
  async entries(batch: ProcessKey, part: number): Promise<Buffer> {
    const sql = `select entries from trustflow.batch_parts where batch = ${batchId} and part = $3`;
    const [row] = await rowsOf<{ entries: Buffer }>(this.#pool, batch, sql, part);
    if (!row) throw new RangeError(`the archive has no part ${part}`);
    return row.entries;
  }

  /**
   * After the archive of so many parts was stored: the batch has it, and its parts no more, in one commit. Answers with the archive
   * that the batch has: another one where another attempt was first. Undefined, and nothing is changed, where a part was added
   * meanwhile, or the batch is gone.
   */
  keep(
    processKey: ProcessKey,
    { uri, sha256, size, mediaType }: MadeArchive,
    parts: number,
  ): Promise<MadeArchive | undefined> {
    return transaction(this.#pool, async (client) => {
      const batch = await lockBatch(client, processKey);
      await client.query(
        `update trustflow.batches set archive_document = $2, archive_sha256 = $3, archive_size = $4, archive_media_type = $5
         where id = $1 and archive_document is null
           and (select count(*) from trustflow.batch_parts where batch = $1) = $6`,
        [batch, uri, sha256, size, mediaType, parts],
      );
      const archive = await archiveOf(client, processKey);
      if (archive)
        await client.query("delete from trustflow.batch_parts where batch = $1", [batch]);
      return archive;
    });
  }

  /** The archive, where it was made. */
  kept(processKey: ProcessKey): Promise<MadeArchive | undefined> {
    return archiveOf(this.#pool, processKey);
  }
}

/** The id of the batch, which nobody else changes until the end of the transaction. */
async function lockBatch(client: PoolClient, processKey: ProcessKey, also = "") {
  const sql = `select b.id from trustflow.batches b where ${ofBatch} ${also} for no key update`;
  const [row] = await rowsOf<{ id: string }>(client, processKey, sql);
  return row?.id;
}

async function archiveOf(
  connection: Pool | PoolClient,
  processKey: ProcessKey,
): Promise<MadeArchive | undefined> {
  const [archive] = await rowsOf<MadeArchive>(
    connection,
    processKey,
    `select archive_document as uri, archive_sha256 as sha256, archive_size::float8 as size, archive_media_type as "mediaType"
     from trustflow.batches b where ${ofBatch} and archive_document is not null`,
  );
  return archive;
}
