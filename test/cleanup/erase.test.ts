// The erasure of a process, step by step: a crash at any point is resumed by calling again, a shared document stays for the other
// owner, and what a text merely names is not touched. Temporal is a list of runs; PostgreSQL and the documents are real.
import { beforeEach, expect, test, vi } from "vitest";
import type { Client } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { randomUUID } from "node:crypto";
import { BatchItems } from "../../src/batch/items/items.js";
import { ArchiveParts } from "../../src/batch/items/parts.js";
import {
  erasableOf,
  erase,
  NothingToErase,
  ProcessIsLost,
  ProcessIsOpen,
} from "../../src/cleanup/erase.js";
import { storeEventSecrets } from "../../src/callbacks/inbox/event-secrets.js";
import {
  abandonErasure,
  beginErasure,
  eraseLateCallbacks,
  erasuresOf,
  finishErasure,
  recordRuns,
} from "../../src/cleanup/erasure-record.js";
import type { Erasure } from "../../src/cleanup/erasure-record.js";
import { withDocumentLock } from "../../src/cleanup/release-documents.js";
import { searchAttributes } from "../../src/contracts/shared/names.js";
import { ErasedKeyError } from "../../src/crypto/errors.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import type { WhenReady } from "../../src/documents/driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import type { Pieces } from "../../src/documents/store.js";
import { documentIdOf } from "../../src/documents/document-id.js";
import { addOwner } from "../../src/journal/ownership.js";
import { whileOwner } from "../../src/journal/while-owner.js";
import { Journal } from "../../src/journal/journal.js";
import { Rows } from "../../src/journal/rows.js";
import { EncryptionCodec } from "../../src/temporal/codec/codec.js";
import { runsOf } from "../../src/temporal/visibility/runs.js";
import type { Execution } from "../../src/temporal/visibility/stuck.js";
import { effectOf, failed, notSent, Provider } from "../journal/support.js";
import { clientOf, knownNamespace } from "../harness/stack/known-processes.js";
import { ownUncommitted, untilLockAwaited } from "../harness/documents/document-owners.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";
import { damage } from "./support.js";

const ring = KeyRing.parse(generateKeyRing());
const codec = new EncryptionCodec(ring);
const content = Buffer.from("%PDF-1.7 a letter to nobody");
const journalOptions = { leaseMs: 1_000, lookUpSpacingMs: 100 };
let folder: string;
let store: DocumentStore;
let journal: Journal;
/** What Temporal's lists show of processes with documents. */
const known = { default: knownNamespace(), other: knownNamespace() };
const clientFor = clientOf(known, ring);
let runs: {
  workflowId: string;
  runId: string;
  isOpen: boolean;
  status?: number;
  text: string;
}[];

const database = ofFile(testDatabase);
beforeEach(async () => {
  folder = await temporaryFolder();
  store = new DocumentStore(new DirectoryDriver(folder), ring);
  journal = new Journal(database.pool, store.dataKeys.sealers(), journalOptions);
  runs = [];
  Object.assign(known, { default: knownNamespace(), other: knownNamespace() });
  await database.pool.query("truncate trustflow.effects");
});

const gone = () => Promise.reject(Object.assign(new Error("not found"), { code: 5 }));

/** As much of Temporal as an erasure asks for. */
const client = {
  options: { namespace: "default" },
  connection: {
    workflowService: {
      describeWorkflowExecution: ({ execution }: { execution: Partial<Execution> }) => {
        const run = runs.findLast(
          ({ workflowId, runId }) =>
            workflowId === execution.workflowId && runId === (execution.runId ?? runId),
        );
        if (!run) return gone();
        const { isOpen, status = isOpen ? 1 : 2 } = run;
        const closeTime = isOpen ? undefined : { seconds: Date.now() / 1_000 };
        return Promise.resolve({ workflowExecutionInfo: { execution: run, status, closeTime } });
      },
      listWorkflowExecutions: (request: { query: string }) =>
        request.query.startsWith("WorkflowId = ")
          ? Promise.resolve({ executions: listed(request.query) })
          : clientFor("default").workflowService.listWorkflowExecutions(request),
      deleteWorkflowExecution: ({ workflowExecution: { runId } }: any) => {
        if (!runs.some((run) => run.runId === runId)) return gone();
        runs = runs.filter((run) => run.runId !== runId);
        return Promise.resolve({});
      },
    },
    plugins: [],
  },
  workflowService: {
    ...(clientFor("default").workflowService as object),
    describeWorkflowExecution: (request: any) =>
      client.connection.workflowService
        .describeWorkflowExecution(request)
        .catch(() => clientFor("default").workflowService.describeWorkflowExecution(request)),
  },
  workflow: {
    getHandle: (_: string, runId: string) => ({
      async fetchHistory() {
        const { text = "" } = runs.find((run) => run.runId === runId) ?? {};
        const encoding = Buffer.from("json/plain");
        const payload = { metadata: { encoding }, data: Buffer.from(JSON.stringify(text)) };
        return { events: [{ input: { payloads: await codec.encode([payload]) } }] };
      },
    }),
  },
} as unknown as Client;

const { workflowService } = client.connection;

/** The runs of one process, as Temporal lists them. */
function listed(query: string, status?: number) {
  const own = runs.filter(({ workflowId }) => query.includes(`"${workflowId}"`));
  return own.map(({ workflowId, runId, isOpen }) => ({
    execution: { workflowId, runId },
    type: { name: "sendPostal" },
    status: status ?? (isOpen ? 1 : 2),
    historyLength: { toNumber: () => 1 },
    startTime: msToTs(1_000),
    searchAttributes: {
      indexedFields: {
        [searchAttributes.references.name]: {
          metadata: { encoding: Buffer.from("json/plain"), type: Buffer.from("KeywordList") },
          data: Buffer.from(JSON.stringify([`reference of ${runId}`])),
        },
      },
    },
  }));
}

async function owned(workflowId: string, uri: string, kind = "submitted"): Promise<void> {
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ($1, 'default', $2, $3)",
    [uri.slice("document:".length), workflowId, kind],
  );
}

/** A finished process with two runs, an effect, two callbacks and two documents. */
async function finished() {
  const workflowId = `sendPostal/${randomUUID()}`;
  const processKey = { namespace: "default", workflowId };
  runs.push(...["first", "second"].map((name) => ({ ...run(workflowId, name) })));
  await journal.perform(effectOf(processKey), new Provider().performance);
  for (const state of ["delivered", "waiting"])
    await database.pool.query(
      `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, state, size, body)
       values ('a', $1, 'evi-post', 'default', $2, $3, 1, 'x')`,
      [randomUUID(), workflowId, state],
    );
  await storeEventSecrets(database.pool, processKey, [{ eventId: "e", sealed: "x" }]);
  await tellOf(workflowId);
  const submitted = await store.put(content, "application/pdf", { process: processKey });
  const affidavit = await store.put(content, "application/pdf", { process: processKey });
  await owned(workflowId, submitted.uri);
  await owned(workflowId, affidavit.uri, "affidavit");
  return { workflowId, processKey, submitted, affidavit };
}

/** An event of the process, and its delivery. */
async function tellOf(workflowId: string): Promise<void> {
  await database.pool.query(
    `with event as (
       insert into trustflow.process_events (id, namespace, workflow_id, type, happened_at, data)
       values ($1, 'default', $2, 'process.ended', now(), '{}') returning id)
     insert into trustflow.webhook_deliveries (event, namespace, endpoint) select id, 'default', 'a' from event`,
    [randomUUID(), workflowId],
  );
}

const run = (workflowId: string, name: string, text = "") => ({
  workflowId,
  runId: `${name} of ${workflowId}`,
  isOpen: false,
  text,
});

function optionsOf(workflowId: string) {
  const { pool } = database;
  const common = { pool, documents: store, codecRing: ring, limitMs: 2_000 };
  return { ...common, workflowId, client, clients: [client, clientFor("other")], by: "Ana" };
}

async function rowsOf(table: string, workflowId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(
    `select * from trustflow.${table} where workflow_id = $1`,
    [workflowId],
  );
  return rows;
}

const counts = { documents: { submitted: 1, affidavit: 1 }, callbacks: 2, effects: 1, runs: 2 };

async function expectErased({
  workflowId,
  processKey,
  submitted,
  affidavit,
}: Awaited<ReturnType<typeof finished>>) {
  expect(await store.exists(submitted.uri)).toBe(false);
  expect(await store.exists(affidavit.uri)).toBe(false);
  expect(await rowsOf("documents", workflowId)).toEqual([]);
  expect(await rowsOf("process_events", workflowId)).toEqual([]);
  for (const { body, evidence_id, state } of await rowsOf("callbacks", workflowId))
    expect([body, evidence_id, state]).toEqual([
      ...[null, null],
      expect.stringMatching(/^(delivered|kept|late)$/),
    ]);
  expect(await rowsOf("effects", workflowId)).toMatchObject([
    { state: "answered", sealed_answer: null, sealed_decisions: null, digest: null },
  ]);
  expect(await rowsOf("event_secrets", workflowId)).toEqual([]);
  expect(runs.filter((one) => one.workflowId === workflowId)).toEqual([]);
  expect(await store.dataKeys.isErased(processKey)).toBe(true);
  expect(await erasuresOf(database.pool, processKey)).toMatchObject([
    { by: "Ana", finishedAt: expect.any(Date), ...counts },
  ]);
}

test("of a batch, what is known of its notices, 10,000 at a time, and the parts of its archive go too, also where no body is left", async () => {
  const one = await finished();
  const items = new BatchItems(database.pool);
  const [listed, other] = [
    [{ evidenceId: "n", line: 1 }],
    { ...one.processKey, workflowId: "o/1" },
  ];
  for (const batch of [one.processKey, other]) {
    await items.open(batch, 1);
    await items.noteListed(batch, listed);
    const part = { document: "document:1", size: 1, entries: Buffer.from("x") };
    expect(await new ArchiveParts(database.pool).add(batch, part, ["n"])).toBe(true);
  }
  await database.pool.query(
    "update trustflow.callbacks set state = 'kept', body = null, evidence_id = 'n' where workflow_id = $1 and state = 'delivered'",
    [one.workflowId],
  );
  await database.pool.query(
    `insert into trustflow.batch_items (batch, evidence_id)
     select id, number from trustflow.batches, generate_series(1, 10000) as number where workflow_id = $1`,
    [one.workflowId],
  );
  using query = vi.spyOn(database.pool, "query");
  await erase(optionsOf(one.workflowId));
  const statements = query.mock.calls.map(([sql]) => sql);
  expect(
    statements.filter((sql) => sql.includes("delete from trustflow.batch_items")),
  ).toHaveLength(2);
  await expectErased(one);
  expect(await rowsOf("batches", one.workflowId)).toEqual([]);
  for (const table of ["batch_items", "batch_parts"]) {
    const { rows } = await database.pool.query(
      `select workflow_id from trustflow.${table} join trustflow.batches on id = batch`,
    );
    expect(rows).toEqual([{ workflow_id: other.workflowId }]);
  }
});

test("everything of the process goes, the record stays", async () => {
  const one = await finished();
  const { by: _, ...dry } = optionsOf(one.workflowId);
  expect(await erasableOf(dry)).toMatchObject({
    ...counts,
    atProvider: [{ provider: "evi-post", operation: "submit", exists: "yes", count: 1 }],
    references: [
      `reference of first of ${one.workflowId}`,
      `reference of second of ${one.workflowId}`,
    ],
  });
  expect(await store.exists(one.submitted.uri)).toBe(true);
  expect(await erase(optionsOf(one.workflowId))).toMatchObject({ ...counts, by: "Ana" });
  await expectErased(one);
  // A second erasure changes nothing, also by another person.
  expect(await erase({ ...optionsOf(one.workflowId), by: "Eva" })).toMatchObject({
    ...counts,
    by: "Ana",
  });
  await expectErased(one);
});

test("the secret of an event that came after the erasure goes with the next clean-up; that of another process stays", async () => {
  const [one, other] = [await finished(), await finished()];
  await erase(optionsOf(one.workflowId));
  await storeEventSecrets(database.pool, one.processKey, [{ eventId: "e", sealed: "x" }]);
  await tellOf(one.workflowId);
  const tables = ["event_secrets", "process_events"];
  await eraseLateCallbacks(database.pool, true);
  for (const table of tables) expect(await rowsOf(table, one.workflowId)).toHaveLength(1);
  await eraseLateCallbacks(database.pool, false);
  for (const table of tables) {
    expect(await rowsOf(table, one.workflowId)).toEqual([]);
    expect(await rowsOf(table, other.workflowId)).toHaveLength(1);
  }
});

test("an attempt that outlives its erased process leaves neither an owner's row nor a digest, and its reference goes with the next clean-up", async () => {
  const one = await finished();
  const { pool } = database;
  const effect = effectOf(one.processKey);
  const document = { id: documentIdOf(one.submitted.uri), kind: "submitted" as const };
  const addsOwner = withPart(client.connection.workflowService, {
    async deleteWorkflowExecution(request: never) {
      await addOwner(pool, one.processKey, [document]);
      return workflowService.deleteWorkflowExecution(request);
    },
  } as never);
  const connection = { workflowService: addsOwner } as unknown as Client["connection"];
  await erase({ ...optionsOf(one.workflowId), client: withPart(client, { connection }) });
  expect(await rowsOf("documents", one.workflowId)).toEqual([]);
  await addOwner(pool, one.processKey, [document]);
  expect(await new Rows(pool, 1_000).renew(effect, effect.token)).toBe(false);
  const at = { provider: "evi-post", account: "default", reference: "late" };
  await journal.noteReference({ ...at, ...one.processKey });
  await eraseLateCallbacks(pool, false);
  for (const table of ["documents", "correlations"])
    expect(await rowsOf(table, one.workflowId)).toEqual([]);
  expect(await rowsOf("effects", one.workflowId)).toMatchObject([{ digest: null }]);
});

test("an attempt that waited for a document while its process was erased leaves no owner's row beyond the next clean-up", async () => {
  const one = await finished();
  const { pool } = database;
  const id = documentIdOf(one.submitted.uri);
  await erase(optionsOf(one.workflowId));
  await pool.query("update trustflow.erasures set finished_at = null where workflow_id = $1", [
    one.workflowId,
  ]);
  const [erasure] = await erasuresOf(pool, one.processKey);
  const waiting: Promise<unknown>[] = [];
  await withDocumentLock(pool, id, async () => {
    waiting.push(addOwner(pool, one.processKey, [{ id, kind: "submitted" }]));
    await untilLockAwaited(pool);
    await finishErasure(pool, erasure as Erasure);
  });
  await Promise.all(waiting);
  await eraseLateCallbacks(pool, false);
  expect(await rowsOf("documents", one.workflowId)).toEqual([]);
});

test("of two that erase a process at once, one goes on only while the record is there", async () => {
  const { processKey } = await finished();
  const { pool } = database;
  const begin = () => beginErasure(pool, processKey, "Ana");
  const [first, second] = [await begin(), await begin()];
  expect(second.id).toBe(first.id);
  await abandonErasure(pool, first);
  await expect(recordRuns(pool, second, 1)).rejects.toThrow("the record of the erasure is gone");
});

type Options = ReturnType<typeof optionsOf>;

/** Everything that an erasure does, in its order; the statements before number 12 only read. */
const crashes: [string, (options: Options) => Options][] = [
  ...Array.from({ length: 10 }, (_, number): (typeof crashes)[number] => [
    `statement ${number + 11} of PostgreSQL`,
    (options) => ({ ...options, pool: failingAt(options.pool, ["query", "connect"], number + 11) }),
  ]),
  ...[0, 1].map((number): (typeof crashes)[number] => [
    `the removal of document ${number}`,
    (options) => ({ ...options, documents: failingAt(options.documents, ["delete"], number) }),
  ]),
  [
    "the erasure of the key",
    (options) => {
      const dataKeys = failingAt(options.documents.dataKeys, ["erase"], 0);
      return { ...options, documents: withPart(options.documents, { dataKeys }) };
    },
  ],
  ...[0, 1].map((number): (typeof crashes)[number] => [
    `the deletion of run ${number}`,
    (options) => {
      const failing = failingAt(workflowService, ["deleteWorkflowExecution"], number);
      const connection = { workflowService: failing } as unknown as Client["connection"];
      return { ...options, client: withPart(client, { connection }) };
    },
  ]),
];

function withPart<T extends object>(target: T, part: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(name in part ? part : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The same, whose call number `at` of these methods fails. */
function failingAt<T extends object>(target: T, methods: string[], at: number): T {
  let calls = 0;
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (methods.includes(String(name)) && calls++ === at) throw new Error("crash");
        return value.apply(target, args) as unknown;
      };
    },
  });
}

test.each(crashes)(
  "a crash at %s: the next call goes on, and counts everything once",
  async (_, broken) => {
    const one = await finished();
    await expect(erase(broken(optionsOf(one.workflowId)))).rejects.toThrow();
    await erase(optionsOf(one.workflowId));
    await expectErased(one);
  },
);

test.each([
  ["an open process", {}],
  ["a paused process", { status: 8 }],
])("%s is refused, and nothing is written", async (_, paused) => {
  const { workflowId } = await finished();
  runs.push({ ...run(workflowId, "third"), isOpen: true, ...paused });
  await expect(erase(optionsOf(workflowId))).rejects.toThrow(ProcessIsOpen);
  expect(await rowsOf("erasures", workflowId)).toEqual([]);
});

test("a process that Temporal lacks is not erased while its rows are younger than the history retention", async () => {
  const one = await finished();
  const kept = runs;
  runs = [];
  for (const days of [0, 89]) {
    await database.pool.query(
      "update trustflow.effects set updated_at = now() - $1 * interval '1 day'",
      [days],
    );
    await expect(erase(optionsOf(one.workflowId))).rejects.toThrow(ProcessIsLost);
    await expect(erasableOf(optionsOf(one.workflowId))).rejects.toThrow(ProcessIsLost);
  }
  expect(await rowsOf("erasures", one.workflowId)).toEqual([]);
  expect(await store.get(one.submitted)).toEqual(content);
  runs = kept;
  await erase(optionsOf(one.workflowId));
  await expectErased(one);
});

test("a child that Temporal lacks keeps its parent from being erased", async () => {
  const child = "sendNotice/d.notice";
  runs.push(run("serveNotice/d", "first"));
  await journal.perform(
    effectOf({ namespace: "default", workflowId: child }),
    new Provider().performance,
  );
  await expect(erase(optionsOf("serveNotice/d"))).rejects.toThrow(`does not have ${child}`);
});

test("callbacks to the account that were parked, or still rest, with a reference of the process lose their bodies; others keep them", async () => {
  const one = await finished();
  const { pool } = database;
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, reason, size, body, reference)
     select 'account', gen_random_uuid(), 'one-shot-signature', account, state, reason, 1, 'x', reference
     from (values ('default', 'parked', 'unmatched', 'own'), ('default', 'unaddressed', null, 'own'),
       ('default', 'parked', 'unmatched', 'other'), ('branch', 'parked', 'unmatched', 'own'))
       as given (account, state, reason, reference)`,
  );
  await pool.query(
    "insert into trustflow.correlations values ('one-shot-signature', 'default', 'own', 'default', $1)",
    [one.workflowId],
  );
  const found = { ...counts, callbacks: 4 };
  expect(await erasableOf(optionsOf(one.workflowId))).toMatchObject(found);
  expect(await erase(optionsOf(one.workflowId))).toMatchObject(found);
  const { rows } = await pool.query(
    `select account, state, reason, reference, body is null as empty, settled_at is null as unsettled
     from trustflow.callbacks where address = 'account' order by id`,
  );
  const erased = {
    account: "default",
    state: "parked",
    reason: "unmatched",
    reference: null,
    empty: true,
  };
  expect(rows).toMatchObject([
    { ...erased, unsettled: false },
    { ...erased, unsettled: false },
    { account: "default", reference: "other", empty: false },
    { account: "branch", reference: "own", empty: false },
  ]);
});

test("a callback that names no process, and whose token a worker has just found to be of this one, loses its body", async () => {
  const one = await finished();
  const { pool } = database;
  await pool.query(
    "insert into trustflow.correlations values ('video-identification', 'default', 'c', 'default', $1)",
    [one.workflowId],
  );
  await pool.query(
    `with arrived as (
       insert into trustflow.callbacks (address, identifier, provider, account, state, size, body)
       select 'video', shown, 'video-identification', 'default', 'unaddressed', 1, 'x'
       from (values ('c'), ('other')) as given (shown) returning id, identifier, provider, account)
     insert into trustflow.unaddressed_tokens (callback, provider, account, reference, judged_at)
     select id, provider, account, identifier, now() from arrived`,
  );
  expect(await erase(optionsOf(one.workflowId))).toMatchObject({ ...counts, callbacks: 3 });
  const { rows } = await pool.query(
    "select identifier, state, body is null as empty from trustflow.callbacks where address = 'video' order by id",
  );
  expect(rows).toEqual([
    { identifier: "c", state: "parked", empty: true },
    { identifier: "other", state: "unaddressed", empty: false },
  ]);
});

test.each([
  ["sendNotice/a.notice", "serveNotice/a"],
  ["sendNotice/b.notice", "sendPostal/b.post"],
  ["serveNotice/c", "sendNotice/c.notice"],
])("%s is refused while %s is open, in its name", async (workflowId, open) => {
  runs.push({ ...run(workflowId, "first") }, { ...run(open, "first"), isOpen: true });
  await expect(erase(optionsOf(workflowId))).rejects.toThrow(`${open} is still open`);
  expect(await rowsOf("erasures", workflowId)).toEqual([]);
  runs = runs.map((one) => ({ ...one, isOpen: false }));
  await erase(optionsOf(workflowId));
});

test("one that is started at the same moment is refused too, and goes on", async () => {
  const { workflowId, processKey, submitted } = await finished();
  const { pool } = database;
  const query = async (text: string, values: unknown[]) => {
    const result: unknown = await pool.query(text, values);
    if (text.includes("insert into trustflow.erasures"))
      runs.push({ ...run(workflowId, "third"), isOpen: true });
    return result;
  };
  const starting = withPart(pool, { query } as never);
  await expect(erase({ ...optionsOf(workflowId), pool: starting })).rejects.toThrow(ProcessIsOpen);
  expect(await rowsOf("erasures", workflowId)).toEqual([]);
  expect(await store.get(submitted)).toEqual(content);
  await journal.perform(effectOf({ ...processKey, step: "cancel" }), new Provider().performance);
});

test.each<[string, boolean, (workflowId: string) => object]>([
  [
    "begins after the newest was listed is open, and is not deleted",
    true,
    (workflowId) => ({
      async describeWorkflowExecution(request: any) {
        const described = await workflowService.describeWorkflowExecution(request);
        if (request.execution.runId === undefined)
          runs.push({ ...run(workflowId, "third"), isOpen: true });
        return described;
      },
    }),
  ],
  [
    "the list still shows as open has ended",
    false,
    () => ({
      listWorkflowExecutions: async ({ query }: { query: string }) => ({
        executions: listed(query, 1),
      }),
    }),
  ],
])("a run that %s", async (_, isOpen, partOf) => {
  const { workflowId } = await finished();
  const connection = { workflowService: withPart(workflowService, partOf(workflowId)) };
  const other = withPart(client, { connection: { ...connection, plugins: [] } } as never);
  const runIds = [`second of ${workflowId}`, `first of ${workflowId}`];
  expect(await runsOf(other, workflowId)).toMatchObject({ isOpen, runIds });
});

test("an erasure that has begun lets nothing be sent from a row that was not sent", async () => {
  const processKey = { namespace: "default", workflowId: `sendPostal/${randomUUID()}` };
  const effect = effectOf(processKey);
  await failed(journal.perform(effect, new Provider(notSent).performance));
  const rows = new Rows(database.pool, 1_000);
  const row = (await rows.find(effect.token))!;
  expect(row).toMatchObject({ state: "notSent", digest: expect.any(String) });
  await beginErasure(database.pool, processKey, "Ana");
  const provider = new Provider();
  expect(await failed(journal.perform(effect, provider.performance))).toBeInstanceOf(
    ErasedKeyError,
  );
  expect(provider.sends).toEqual([]);
  // Nor where the erasure begins after the journal has asked for it.
  expect(await rows.takeAgain(effect, row, randomUUID(), false)).toBeUndefined();
});

test("an unknown id is not an erasure", async () => {
  await expect(erase(optionsOf("sendPostal/nobody"))).rejects.toThrow(NothingToErase);
  expect(await rowsOf("erasures", "sendPostal/nobody")).toEqual([]);
});

test("no effect of an erased process is sent again, old step or new, while its key is remembered or not", async () => {
  const { workflowId, processKey } = await finished();
  const other = new DocumentStore(new DirectoryDriver(folder), ring);
  const remembering = new Journal(database.pool, other.dataKeys.sealers(), journalOptions);
  await remembering.perform(effectOf(processKey), new Provider().performance);
  await erase(optionsOf(workflowId));
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring).dataKeys.sealers();
  for (const one of [remembering, new Journal(database.pool, fresh, journalOptions)]) {
    const provider = new Provider();
    for (const step of ["submit", "cancel"])
      expect(
        await failed(one.perform(effectOf({ ...processKey, step }), provider.performance)),
      ).toBeInstanceOf(ErasedKeyError);
    expect(provider.sends).toEqual([]);
  }
  expect(await rowsOf("effects", workflowId)).toHaveLength(1);
});

test("a document that another process owns too stays, sealed with that one's key", async () => {
  const first = await finished();
  const second = await finished();
  await owned(second.workflowId, first.submitted.uri);
  const report = await erase(optionsOf(first.workflowId));
  expect(report.shared).toEqual([
    { uri: first.submitted.uri, kind: "submitted", owners: [second.workflowId] },
  ]);
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  expect(await fresh.get(first.submitted)).toEqual(content);
  expect(await rowsOf("documents", second.workflowId)).toHaveLength(3);
  await erase(optionsOf(second.workflowId));
  expect(await store.exists(first.submitted.uri)).toBe(false);
});

test("a damaged document that another process owns too does not hold up the erasure, which names it", async () => {
  const [first, second] = [await finished(), await finished()];
  const { uri } = first.submitted;
  await owned(second.workflowId, uri);
  await damage(folder, uri);
  const damaged = [{ uri, owner: second.workflowId, problem: expect.stringContaining(uri) }];
  const { by: _, ...dry } = optionsOf(first.workflowId);
  expect((await erasableOf(dry)).damaged).toEqual(damaged);
  expect((await erase(optionsOf(first.workflowId))).damaged).toEqual(damaged);
  expect(await store.dataKeys.isErased(first.processKey)).toBe(true);
  expect(await rowsOf("documents", first.workflowId)).toEqual([]);
  expect(await store.exists(uri)).toBe(true);
});

test.each([
  ["the first one's", [0]],
  ["the next owner's", [1]],
  ["both", [0, 1]],
])(
  "a restored document of two processes, with %s keys still erased, does not hold up their next erasure",
  async (_, erased) => {
    const both = [await finished(), await finished()] as const;
    const [first, second] = both;
    const { uri } = first.submitted;
    await owned(second.workflowId, uri);
    for (const at of erased) await store.dataKeys.erase(both[at]!.processKey);
    expect((await erase(optionsOf(first.workflowId))).damaged).toMatchObject([
      { uri, owner: second.workflowId },
    ]);
    await erase(optionsOf(second.workflowId));
    expect(await store.exists(uri)).toBe(false);
  },
);

test("an attempt that outlives its erased process leaves the document of another one as it is", async () => {
  const [one, other] = [await finished(), await finished()];
  const upload = await store.put(content, "application/pdf");
  for (const { workflowId } of [one, other]) await owned(workflowId, upload.uri);
  class Slow extends DirectoryDriver {
    override async replace(id: string, pieces: Pieces, whenReady?: WhenReady): Promise<void> {
      const slow = async function* () {
        yield* pieces;
        await erase(optionsOf(one.workflowId));
      };
      await super.replace(id, slow(), whenReady);
    }
  }
  const attempt = new DocumentStore(new Slow(folder), ring, (...given) =>
    whileOwner(database.pool, ...given),
  );
  await attempt.check(upload, one.processKey);
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  expect(await fresh.take(upload, other.processKey)).toEqual(content);
});

test("a document without an owner row is found by the history; what a history merely names stays", async () => {
  const { workflowId, submitted } = await finished();
  const before = await store.put(content, "application/pdf");
  const theirs = await finished();
  const recorded = await store.put(content, "application/pdf");
  await owned(theirs.workflowId, recorded.uri);
  const unrecorded = await store.put(content, "application/pdf", { process: theirs.processKey });
  const named = [before, submitted, theirs.submitted, recorded, unrecorded];
  const uris = named.map(({ uri }) => uri).join(" ");
  runs.push(run(workflowId, "third", `${uris} document:${"0".repeat(32)}`));
  const { documents } = await erase(optionsOf(workflowId));
  expect(documents).toEqual({ submitted: 1, affidavit: 1, unrecorded: 1 });
  expect(await store.exists(before.uri)).toBe(false);
  for (const { uri } of [theirs.submitted, recorded, unrecorded])
    expect(await store.exists(uri)).toBe(true);
});

test("a document that an open process names, which has no row yet, stays with it, in whatever namespace it is", async () => {
  const { workflowId, submitted, affidavit } = await finished();
  const [here, elsewhere] = [`sendPostal/${randomUUID()}`, workflowId];
  known.default.processes = [
    { workflowId, running: true, input: { document: submitted } },
    { workflowId: here, running: true, input: { document: submitted } },
  ];
  known.other.processes = [
    { workflowId: elsewhere, running: true, input: { document: affidavit } },
  ];
  const { by: _, ...dry } = optionsOf(workflowId);
  const shared = [
    { uri: submitted.uri, kind: "submitted", owners: [here] },
    { uri: affidavit.uri, kind: "affidavit", owners: [elsewhere] },
  ];
  expect((await erasableOf(dry)).shared).toEqual(shared);
  expect(await rowsOf("documents", here)).toEqual([]);
  expect((await erase(optionsOf(workflowId))).shared).toEqual(shared);
  expect(await rowsOf("documents", here)).toHaveLength(1);
  expect(await rowsOf("documents", elsewhere)).toMatchObject([{ namespace: "other" }]);
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  for (const one of [submitted, affidavit]) expect(await fresh.get(one)).toEqual(content);
});

test("a document without an owner row stays for a finished process that names it", async () => {
  const { workflowId } = await finished();
  const before = await store.put(content, "application/pdf");
  runs.push(run(workflowId, "third", before.uri));
  known.default.processes = [
    { workflowId, running: false, input: {} },
    { workflowId: "sendPostal/without-rows", running: false, input: { document: before } },
  ];
  await erase(optionsOf(workflowId));
  expect(await store.exists(before.uri)).toBe(true);
});

test("while a list lacks an open process, or cannot be read to its end, nothing is erased", async () => {
  const { workflowId, submitted } = await finished();
  const open = `sendPostal/${randomUUID()}`;
  await journal.perform(
    effectOf({ namespace: "default", workflowId: open }),
    new Provider().performance,
  );
  await database.pool.query(
    "update trustflow.effects set created_at = clock_timestamp() - interval '1 hour'",
  );
  known.default.processes = [{ workflowId: open, running: true, input: {} }];
  known.default.list = "empty";
  await expect(erase(optionsOf(workflowId))).rejects.toThrow(`lacks ${open}`);
  known.default.list = "breaks off";
  await expect(erase(optionsOf(workflowId))).rejects.toThrow("the list broke off");
  expect(await rowsOf("erasures", workflowId)).toEqual([]);
  expect(await store.get(submitted)).toEqual(content);
});

test("an erased process that owns a document again, or names it, does not keep it", async () => {
  const [one, other] = [await finished(), await finished()];
  await erase(optionsOf(other.workflowId));
  await owned(other.workflowId, one.affidavit.uri);
  known.default.processes = [
    { workflowId: other.workflowId, running: true, input: { document: one.submitted } },
  ];
  expect((await erase(optionsOf(one.workflowId))).shared).toEqual([]);
  for (const { uri } of [one.submitted, one.affidavit]) expect(await store.exists(uri)).toBe(false);
});

test("a process that takes a document while another one is erased keeps it, or comes after the removal", async () => {
  const { workflowId, submitted, affidavit } = await finished();
  const nextOwner = { namespace: "default", workflowId: `sendPostal/${randomUUID()}` };
  const late = { namespace: "default", workflowId: `sendPostal/${randomUUID()}` };
  const commit = await ownUncommitted(database.pool, nextOwner, submitted.uri);
  let taken: Promise<void> | undefined;
  const slow = withPart(store, {
    async delete(uri: string) {
      taken = addOwner(database.pool, late, [{ id: documentIdOf(uri), kind: "submitted" }]);
      await untilLockAwaited(database.pool);
      await store.delete(uri);
    },
  });
  const erasing = erase({ ...optionsOf(workflowId), documents: slow });
  await untilLockAwaited(database.pool);
  await commit();
  await erasing;
  await taken;
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  expect(await fresh.get(submitted)).toEqual(content);
  expect(await fresh.exists(affidavit.uri)).toBe(false);
  expect(await rowsOf("documents", late.workflowId)).toHaveLength(1);
});
