// Keeps what is known of each notice of a batch: callbacks report it, and queries show it. The tables in test/batch/items/notice-state.ts
// say which of both counts. No personal data: a notice is its `EvidenceId`, a recipient its line in the list. Ids are compared without
// case; a call gets them as the provider spells them.
import type { ProcessKey } from "../../crypto/data-key.js";
import type { Pool, PoolClient } from "../../postgres/pool.js";
import { withoutNulls } from "../../postgres/without-nulls.js";

export type { ProcessKey } from "../../crypto/data-key.js";

/** One notice of a batch. */
export interface BatchItem {
  evidenceId: string;
  line?: number;
  /** P2 §3.2, as the newest of callback and query says. */
  state?: string;
  outcome?: string;
  /** When what is said here happened, or was read. */
  at?: Date;
  source: "callback" | "query" | "recipients";
}

/** Without a state the query showed nothing of the notice. */
export interface ReadItem {
  evidenceId: string;
  state?: string;
  outcome?: string;
}

/** A cursor of the provider, as it came (P2 §4.3). */
type Place = string | number;

export interface Sweep {
  recipients: number;
  /** Leads to the page after the newest one that was read. */
  cursor?: Place;
  /** Each notice of the batch has an item, and those that the provider's list names are known. */
  isListed: boolean;
  /** When the reading of the list last began at its first page. */
  listBeganAt?: Date;
  sweptAt?: Date;
}

/** One callback about a notice. */
export interface ItemEvent {
  /** Its row in the inbox. */
  callback: string;
  kind: string;
  eventDate?: Date;
  receivedAt: Date;
}

/** A claimed callback, as it was read. */
export interface HeardItem {
  id: string;
  /** Absent where the callback is about no notice. */
  evidenceId?: string;
  kind: string;
  at: string;
  /** Counts the place of `kind` among the states; 0: it is no state. */
  rank: number;
  /** At the end alone. */
  outcome?: string;
}

/** `b` is the batch of the process $1, $2. */
export const ofBatch = "b.namespace = $1 and b.workflow_id = $2";
export const batchId = `(select b.id from trustflow.batches b where ${ofBatch})`;
/** A notice's id as the provider spells it. */
export const asShown = "coalesce(shown_id, evidence_id)";
const isListed = "b.listed_at is not null";
/** Items that stand for a recipient: once the list was read to its end, those that it names. */
export const counted = `batch = ${batchId} and (listed or not (select ${isListed} from trustflow.batches b where ${ofBatch}))`;

const columns = `evidence_id as "evidenceId", line,
  case when is_read then read_state else reported end as state,
  case when is_read then read_outcome else reported_outcome end as outcome,
  case when is_read then shown_at else reported_at end as at,
  case when is_read then 'query' when reported is null then 'recipients' else 'callback' end as source`;

/** The rows of a query whose first two parameters are the process of the batch; a column that is null is left out. */
export async function rowsOf<R extends object>(
  connection: Pool | PoolClient,
  { namespace, workflowId }: ProcessKey,
  sql: string,
  ...values: unknown[]
): Promise<R[]> {
  const given = [namespace, workflowId, ...values];
  const { rows } = await connection.query<object>(sql, given);
  return rows.map((row) => withoutNulls(row) as R);
}

export class BatchItems {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Before the first callback can come. A second call changes nothing. */
  async open(batch: ProcessKey, recipients: number): Promise<void> {
    await this.#rows(
      batch,
      `insert into trustflow.batches (namespace, workflow_id, recipients) values ($1, $2, $3)
       on conflict (namespace, workflow_id) do nothing`,
      recipients,
    );
  }

  async sweep(batch: ProcessKey): Promise<Sweep | undefined> {
    const [sweep] = await this.#rows<Sweep>(
      batch,
      `select recipients, cursor, ${isListed} as "isListed", list_began_at as "listBeganAt", swept_at as "sweptAt"
       from trustflow.batches b where ${ofBatch}`,
    );
    return sweep;
  }

  /**
   * Items that the provider's list of recipients names, with the place where the reading goes on; without one at the first page. `page`:
   * which one named them, and how many recipients without a notice. Where another attempt has noted that page, its place and its count
   * stay.
   */
  async noteListed(
    batch: ProcessKey,
    items: { evidenceId: string; line?: number }[],
    next?: Place,
    page?: { from: Place | undefined; unnoticed: number },
  ): Promise<void> {
    const isFirst = page !== undefined && page.from === undefined;
    await this.#rows(
      batch,
      `with noted as (
         update trustflow.batches b set cursor = $3, listed_at = null,
           list_began_at = case when $4 then clock_timestamp() else list_began_at end,
           unnoticed_so_far = case when $4 then 0 else unnoticed_so_far end + $5
         where ${ofBatch} and ($6 or cursor is not distinct from $7)),
       given as (
         select distinct on (evidence_id) *
         from unnest($8::text[], $9::text[], $10::integer[]) as g (evidence_id, shown_id, line) order by evidence_id, line)
       insert into trustflow.batch_items as i (batch, evidence_id, shown_id, line, listed)
         select b.id, given.evidence_id, given.shown_id, given.line, true
         from trustflow.batches b, given where ${ofBatch} order by given.evidence_id
       on conflict (batch, evidence_id) do update set
         shown_id = excluded.shown_id, line = coalesce(i.line, excluded.line), listed = true
         where not i.listed or (i.line is null and excluded.line is not null)`,
      jsonOf(next),
      isFirst,
      page?.unnoticed ?? 0,
      page === undefined,
      jsonOf(page?.from),
      items.map(({ evidenceId }) => spelt(evidenceId)),
      items.map(shownId),
      items.map(({ line }) => line ?? null),
    );
  }

  /**
   * After the last page. The list is complete where each of the `recipients` has a notice in it, or none: as many as `failed` may have
   * none at once, more only where the reading before showed as many. Else it is read again.
   */
  async endListing(
    batch: ProcessKey,
    { recipients, failed }: { recipients: number; failed: number },
  ): Promise<void> {
    await this.#rows(
      batch,
      `update trustflow.batches b set unnoticed = unnoticed_so_far, listed_at = case
           when l.listed + least(unnoticed_so_far, $4) >= $3 then clock_timestamp()
           when l.listed + unnoticed_so_far >= $3 and unnoticed = unnoticed_so_far then clock_timestamp() end
       from (select count(*) as listed from trustflow.batch_items where batch = ${batchId} and listed) as l
       where ${ofBatch}`,
      recipients,
      failed,
    );
  }

  /** `at`: the database's clock before the question. */
  async noteRead(batch: ProcessKey, items: ReadItem[], at: Date): Promise<void> {
    await this.#rows(
      batch,
      `with given as (
         select distinct on (evidence_id) *
         from unnest($4::text[], $5::text[], $6::text[], $7::text[]) as g (evidence_id, shown_id, state, outcome)
         order by evidence_id, state = 'Closed' desc nulls last)
       insert into trustflow.batch_items as i (batch, evidence_id, shown_id, read_state, read_outcome, read_at, shown_at)
         select b.id, g.evidence_id, g.shown_id, g.state, g.outcome, $3::timestamptz,
           case when g.state is not null then $3::timestamptz end
         from trustflow.batches b, given g where ${ofBatch} order by g.evidence_id
       on conflict (batch, evidence_id) do update set
         read_state = coalesce(excluded.read_state, i.read_state),
         read_outcome = case when excluded.read_state is null then i.read_outcome else excluded.read_outcome end,
         read_at = excluded.read_at,
         shown_at = coalesce(excluded.shown_at, i.shown_at)
       where excluded.read_at > i.read_at and not i.confirmed`,
      at,
      items.map(({ evidenceId }) => spelt(evidenceId)),
      items.map(shownId),
      items.map(({ state }) => state ?? null),
      items.map(({ outcome }) => outcome ?? null),
    );
  }

  async noteSwept(batch: ProcessKey, at: Date): Promise<void> {
    const sql = `update trustflow.batches b set swept_at = greatest(swept_at, $3) where ${ofBatch}`;
    await this.#rows(batch, sql, at);
  }

  /**
   * Settles claimed callbacks as `kept`, and notes what they report, in one commit. Of each notice the newest callback counts, so neither
   * their order nor a second delivery changes anything. A callback whose claim was lost is left to the relay that holds it now.
   */
  async keep(claim: string, heard: HeardItem[]): Promise<void> {
    await this.#pool.query({
      name: "batch-keep",
      text: `with given as (
          select * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::smallint[], $8::text[])
            as g (id, evidence_id, shown_id, kind, event_date, rank, outcome)),
        kept as (
          update trustflow.callbacks c set state = 'kept', evidence_id = g.evidence_id, kind = g.kind, event_date = g.event_date,
            reason = null, detail = null, claim = null, claimed_until = null, settled_at = clock_timestamp()
          from given g where c.id = g.id and c.claim = $1 and c.state = 'waiting'
          returning c.namespace, c.workflow_id, c.received_at, g.*),
        newest as (
          select distinct on (b.id, k.evidence_id) b.id as batch, k.*
          from kept k join trustflow.batches b on b.namespace = k.namespace and b.workflow_id = k.workflow_id
          where k.rank > 0 and k.evidence_id is not null
          order by b.id, k.evidence_id, k.kind = 'Closed' desc, k.event_date desc, k.rank desc, k.outcome desc nulls last)
        insert into trustflow.batch_items as i
          (batch, evidence_id, shown_id, reported, reported_rank, reported_at, reported_outcome, heard_at)
          select batch, evidence_id, shown_id, kind, rank, event_date, outcome, received_at from newest order by batch, evidence_id
        on conflict (batch, evidence_id) do update set reported = excluded.reported, reported_rank = excluded.reported_rank,
          reported_at = excluded.reported_at, reported_outcome = excluded.reported_outcome, heard_at = excluded.heard_at
        where i.reported is null
          or (excluded.reported = 'Closed', excluded.reported_at, excluded.reported_rank, coalesce(excluded.reported_outcome, ''))
            > (i.reported = 'Closed', i.reported_at, i.reported_rank, coalesce(i.reported_outcome, ''))`,
      values: [
        claim,
        heard.map(({ id }) => id),
        heard.map(({ evidenceId }) => (evidenceId === undefined ? null : spelt(evidenceId))),
        heard.map(shownId),
        heard.map(({ kind }) => kind),
        heard.map(({ at }) => at),
        heard.map(({ rank }) => rank),
        heard.map(({ outcome }) => outcome ?? null),
      ],
    });
  }

  /** How many notices have which state and outcome; once the list was read to its end, of those that it names. */
  totals(batch: ProcessKey) {
    return this.#rows<{ listed: boolean; state?: string; outcome?: string; count: number }>(
      batch,
      `select listed, state, outcome, count(*)::int as count
       from (select listed, ${columns} from trustflow.batch_items where ${counted}) as known group by 1, 2, 3 order by 1, 2, 3`,
    );
  }

  /**
   * Notices that no query has shown closed and none has asked for since `before` (once the list was read to its end, those that it
   * names alone): those that no callback has closed come first, and of them those asked for longest ago. `isOpen`: those alone. One that
   * a callback has closed is asked for once since: a mail is never shown, so more attempts than one would have no end.
   */
  due(batch: ProcessKey, before: Date, limit: number, { isOpen = false } = {}) {
    const some = (closed: boolean, since = "$3") =>
      `(select ${asShown} as evidence_id, line from trustflow.batch_items
        where ${counted} and closed = ${closed} and read_at < ${since} and not confirmed
        order by closed, read_at limit $4)`;
    return this.#rows<{ evidenceId: string; line?: number }>(
      batch,
      `select evidence_id as "evidenceId", line
       from (${isOpen ? some(false) : `${some(false)} union all ${some(true, "least($3, heard_at)")}`}) as items limit $4`,
      before,
      limit,
    );
  }

  /** By the ids as they are spelt in `evidenceIds`. */
  async byEvidence(batch: ProcessKey, evidenceIds: string[]): Promise<Map<string, BatchItem>> {
    const rows = await this.#rows<BatchItem>(
      batch,
      `select ${columns} from trustflow.batch_items where batch = ${batchId} and evidence_id = any($3)`,
      evidenceIds.map(spelt),
    );
    const found = new Map(rows.map((row) => [row.evidenceId, row]));
    return new Map(
      evidenceIds.flatMap((asked): [string, BatchItem][] => {
        const item = found.get(spelt(asked));
        return item ? [[asked, item]] : [];
      }),
    );
  }

  /** The notice of this id, which is spelt as the provider spells it. */
  async shown(batch: ProcessKey, evidenceId: string): Promise<BatchItem | undefined> {
    const [row] = await this.#rows<BatchItem & { shownId: string }>(
      batch,
      `select ${columns}, ${asShown} as "shownId" from trustflow.batch_items where batch = ${batchId} and evidence_id = $3`,
      spelt(evidenceId),
    );
    if (!row) return undefined;
    const { shownId, ...item } = row;
    return { ...item, evidenceId: shownId };
  }

  /** In the order of their `EvidenceId`, from after `after` on. */
  page(
    batch: ProcessKey,
    asked: { state?: string; outcome?: string; isOpen?: boolean; after?: string; limit: number },
  ): Promise<BatchItem[]> {
    return this.#rows<BatchItem>(
      batch,
      `select * from (
         select ${columns} from trustflow.batch_items
         where batch = ${batchId} and evidence_id > $3 and ($4::boolean is null or closed <> $4)) as items
       where ($5::text is null or lower(state) = lower($5)) and ($6::text is null or lower(outcome) = lower($6))
       order by "evidenceId" limit $7`,
      asked.after ?? "",
      asked.isOpen ?? null,
      asked.state ?? null,
      asked.outcome ?? null,
      asked.limit,
    );
  }

  /** The callbacks about one notice, in the order of the provider's dates: they may come in another one. */
  history(batch: ProcessKey, evidenceId: string): Promise<ItemEvent[]> {
    return this.#rows<ItemEvent>(
      batch,
      `select id as callback, kind, event_date as "eventDate", received_at as "receivedAt" from trustflow.callbacks
       where namespace = $1 and workflow_id = $2 and evidence_id = $3 order by event_date, id`,
      spelt(evidenceId),
    );
  }

  #rows<R extends object>(batch: ProcessKey, sql: string, ...values: unknown[]): Promise<R[]> {
    return rowsOf<R>(this.#pool, batch, sql, ...values);
  }
}

/** The id by which a notice is known here. */
export function spelt(evidenceId: string): string {
  return evidenceId.toLowerCase();
}

function jsonOf(place: Place | undefined): string | null {
  return place === undefined ? null : JSON.stringify(place);
}

function shownId({ evidenceId }: { evidenceId?: string }): string | null {
  return evidenceId === undefined || evidenceId === spelt(evidenceId) ? null : evidenceId;
}
