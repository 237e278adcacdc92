// Who owns which document: written with the journal's row, or before it; what a process takes leaves the quarantine.
import { expect, test } from "vitest";
import { randomBytes } from "node:crypto";
import { beginErasure } from "../../src/cleanup/erasure-record.js";
import { withDocumentLock } from "../../src/cleanup/release-documents.js";
import type { Effect } from "../../src/journal/journal.js";
import type { DocumentKind } from "../../src/journal/ownership.js";
import { whileOwner } from "../../src/journal/while-owner.js";
import { ownUncommitted, untilLockAwaited } from "../harness/documents/document-owners.js";
import { clockedJournal, effectOf, failed, notSent, Provider } from "./support.js";

const { database, journal } = clockedJournal();

const newDocument = (kind: DocumentKind = "submitted") => ({
  id: randomBytes(16).toString("hex"),
  kind,
});

async function ownersOf({ id }: { id: string }) {
  const { rows } = await database.pool.query<{ owner: string; kind: string; xmin: string }>(
    `select namespace || ' ' || workflow_id as owner, kind, xmin::text from trustflow.documents
     where id = $1 order by owned_at`,
    [id],
  );
  return rows;
}

const owner = ({ namespace, workflowId }: Pick<Effect, "namespace" | "workflowId">) =>
  `${namespace} ${workflowId}`;

test("the owner of what an effect sends is committed with the row that is taken, before anything is sent", async () => {
  const documents = [newDocument(), newDocument("video")];
  const effect = effectOf({ documents });
  const whileSent: string[] = [];
  const provider = new Provider(async () => {
    const { rows } = await database.pool.query<{ xmin: string }>(
      "select xmin::text from trustflow.effects where token = $1",
      [effect.token],
    );
    for (const one of [rows, ...(await Promise.all(documents.map(ownersOf)))].flat())
      whileSent.push(one.xmin);
    return { id: "item-1" };
  });
  await journal.perform(effect, provider.performance);
  // One row of the journal and two owners, of one transaction.
  expect(whileSent).toHaveLength(3);
  expect(new Set(whileSent).size).toBe(1);
  const owners = (await Promise.all(documents.map(ownersOf))).flat();
  expect(owners).toMatchObject(documents.map(({ kind }) => ({ owner: owner(effect), kind })));
});

test("a process owns its documents while nothing may be sent yet", async () => {
  const open = { ...new Provider().performance, openError: () => new Error("away") };
  const denied = newDocument();
  const waiting = effectOf({ documents: [denied] });
  expect(await failed(journal.perform(waiting, open))).toEqual(new Error("away"));
  expect(await ownersOf(denied)).toMatchObject([{ owner: owner(waiting) }]);
  const watched = newDocument();
  const asked = effectOf({ documents: [watched] });
  await failed(journal.perform(asked, new Provider().performance, { watchOnly: true }));
  expect(await ownersOf(watched)).toMatchObject([{ owner: owner(asked) }]);
});

test("a retry owns what the attempt before has taken without an owner", async () => {
  const effect = effectOf();
  await failed(journal.perform(effect, new Provider(notSent).performance));
  const document = newDocument();
  await journal.perform({ ...effect, documents: [document] }, new Provider().performance);
  await journal.perform({ ...effect, documents: [document] }, new Provider().performance);
  expect(await ownersOf(document)).toMatchObject([{ owner: owner(effect) }]);
});

test("several processes own one document, each once", async () => {
  const [first, second] = [effectOf(), effectOf()];
  const document = newDocument("affidavit");
  for (const owner of [first, first, second]) await journal.addOwner(owner, [document, document]);
  expect(await ownersOf(document)).toMatchObject([
    { owner: owner(first), kind: "affidavit" },
    { owner: owner(second), kind: "affidavit" },
  ]);
  const later = newDocument("affidavit");
  await journal.addOwner(first, [later, newDocument()]);
  expect(await journal.ownedOf(first, "affidavit")).toEqual([later.id, document.id]);
});

test("a process that takes a document waits for no other that takes it", async () => {
  const [first, second] = [newDocument(), newDocument()];
  const uri = `document:${first.id}`;
  const commit = await ownUncommitted(database.pool, effectOf(), uri);
  await journal.addOwner(effectOf(), [second, first]);
  await commit();
  expect(await ownersOf(first)).toHaveLength(2);
});

test("a process that takes a document again has no end any more, by whichever way it takes it; others keep theirs", async () => {
  const [sent, owned, other] = [newDocument(), newDocument(), newDocument()];
  const [sending, owning, ended] = [effectOf({ documents: [sent] }), effectOf(), effectOf()];
  await journal.addOwner(sending, [sent, newDocument("affidavit")]);
  await journal.addOwner(owning, [owned]);
  await journal.addOwner(ended, [other]);
  await database.pool.query("update trustflow.documents set ended_at = now()");
  await journal.perform(sending, new Provider().performance);
  await journal.addOwner(owning, [owned]);
  const { rows } = await database.pool.query(
    "select workflow_id from trustflow.documents where workflow_id = any($1) and ended_at is not null",
    [[sending, owning, ended].map(({ workflowId }) => workflowId)],
  );
  expect(rows).toEqual([{ workflow_id: ended.workflowId }]);
});

test("work on a document is done for an owner whose erasure has not begun; who releases the document waits for it", async () => {
  const [{ id }, owner, erased, other] = [newDocument(), effectOf(), effectOf(), effectOf()];
  for (const one of [owner, erased]) await journal.addOwner(one, [{ id, kind: "submitted" }]);
  await beginErasure(database.pool, erased, "Ana");
  const done: string[] = [];
  const worked = (processKey: Effect, work = async () => {}) =>
    whileOwner(database.pool, processKey, id, async () => {
      done.push(processKey.workflowId);
      await work();
    });
  await worked(erased);
  await worked(other);
  let releasing: Promise<unknown> | undefined;
  await worked(owner, async () => {
    releasing = withDocumentLock(database.pool, id, async () => done.push("released"));
    await untilLockAwaited(database.pool);
    done.push("ends");
  });
  await releasing;
  expect(done).toEqual([owner.workflowId, "ends", "released"]);
  const full = new Error("the disk is full");
  expect(await failed(worked(owner, () => Promise.reject(full)))).toBe(full);
});

test("what a process takes leaves the quarantine, by whichever way it is taken", async () => {
  const [sent, owned, left] = [newDocument(), newDocument(), newDocument()];
  for (const { id } of [sent, owned, left])
    await database.pool.query(
      "insert into trustflow.document_quarantine (id, stored_at) values ($1, now())",
      [id],
    );
  await journal.perform(effectOf({ documents: [sent] }), new Provider().performance);
  await journal.addOwner(effectOf(), [owned]);
  const { rows } = await database.pool.query("select id from trustflow.document_quarantine");
  expect(rows).toEqual([{ id: left.id }]);
});

test("where the owner cannot be written, it is the journal that is away", async () => {
  const { pool } = database;
  await pool.query("alter table trustflow.documents rename to elsewhere");
  try {
    const sending = new Provider();
    const effect = effectOf({ documents: [newDocument()] });
    for (const attempt of [
      () => journal.addOwner(effectOf(), [newDocument()]),
      () => journal.perform(effect, sending.performance),
    ])
      expect(await failed(attempt())).toMatchObject({
        ...{ name: "JournalUnavailable", code: "42P01" },
        message: "cannot reach the journal (42P01)",
      });
    expect(sending.sends).toEqual([]);
    expect(await journal.rows(effect)).toEqual([]);
  } finally {
    await pool.query("alter table trustflow.elsewhere rename to documents");
  }
});
