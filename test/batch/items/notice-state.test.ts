// The table of what is known of a notice, and the SQL that follows it: each sequence of three callbacks and reads in a real PostgreSQL,
// a notice each, compared after each of the three.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import { afterCallback, afterRead, stateOf } from "./notice-state.js";
import type { NoticeKnown } from "./notice-state.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { hearAll, kinds } from "./heard.js";

const second = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const callback = (state: string, happened: number, came: number, outcome?: string) => ({
  ...{ state, rank: kinds.indexOf(state) + 1, at: second(happened), cameAt: second(came) },
  ...(outcome !== undefined && { outcome }),
});
const read = (asked: number, state?: string, outcome?: string) => ({
  askedAt: second(asked),
  ...(state !== undefined && { state }),
  ...(outcome !== undefined && { outcome }),
});

const callbacks = [
  callback("Sent", 1, 2),
  callback("Read", 1, 4),
  callback("Sent", 2, 1),
  callback("Closed", 0, 2),
  callback("Closed", 0, 3, "read"),
  callback("Closed", 1, 2, "delivered"),
];
const reads = [
  read(1, "Sent"),
  read(2),
  read(2, "Delivered", "delivered"),
  read(3, "Read"),
  read(3),
  read(2, "Closed", "refused"),
];
type Event = (typeof callbacks)[number] | (typeof reads)[number];
const events: Event[] = [...callbacks, ...reads];

function after(known: NoticeKnown, event: Event): NoticeKnown {
  return "cameAt" in event ? afterCallback(known, event) : afterRead(known, event);
}

test("after each sequence of three events the database knows of a notice what the table says", async () => {
  const database = await testDatabase();
  const items = new BatchItems(database.pool);
  const batch = { namespace: "default", workflowId: `sendNoticeBatch/${randomUUID()}` };
  await items.open(batch, 1);
  const sequences = events.flatMap((one) =>
    events.flatMap((two) => events.map((three) => [one, two, three])),
  );
  const known: NoticeKnown[] = sequences.map(() => ({}));

  async function happen(event: Event, notices: number[]): Promise<void> {
    for (const notice of notices) known[notice] = after(known[notice] ?? {}, event);
    const { state, outcome } = event;
    const said = outcome === undefined ? {} : { outcome };
    const ids = notices.map((notice) => ({ evidenceId: `n-${notice}` }));
    if ("cameAt" in event) {
      const heard = { kind: event.state, rank: event.rank, at: event.at.toISOString(), ...said };
      const callbacks = ids.map((id) => ({ ...id, ...heard }));
      await hearAll(database.pool, items, batch, callbacks, event.cameAt);
    } else {
      const shown = { ...(state !== undefined && { state }), ...said };
      const answers = ids.map((id) => ({ ...id, ...shown }));
      await items.noteRead(batch, answers, event.askedAt);
    }
  }

  async function stored() {
    const { rows } = await database.pool.query<{ id: string; closed: boolean; confirmed: boolean }>(
      `select i.evidence_id as id, closed, confirmed from trustflow.batch_items i
       join trustflow.batches b on b.id = i.batch where b.workflow_id = $1`,
      [batch.workflowId],
    );
    const shown = new Map(
      (await items.page(batch, { limit: 10_000 })).map((item) => [item.evidenceId, item]),
    );
    return new Map(
      rows.map(({ id, closed: isClosed, confirmed: isConfirmed }) => {
        const { evidenceId: _id, ...item } = shown.get(id) ?? { evidenceId: id };
        return [id, { ...item, isClosed, isConfirmed }];
      }),
    );
  }

  for (const step of [0, 1, 2]) {
    for (const event of events)
      await happen(
        event,
        [...sequences.keys()].filter((notice) => sequences[notice]?.[step] === event),
      );
    const found = await stored();
    for (const [notice, sequence] of sequences.entries()) {
      const events = sequence.slice(0, step + 1);
      const [table, database] = [stateOf(known[notice] ?? {}), found.get(`n-${notice}`)];
      expect({ events, ...database }).toEqual({ events, ...table });
    }
  }
  await database.close();
}, 60_000);
