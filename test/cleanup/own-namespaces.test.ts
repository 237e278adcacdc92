// An empty Temporal, or another one, answers every question with "not found". A command that deletes or resets believes only the
// namespace that `migrate` has noted in the database (docs/decisions/0018).
import { beforeAll, expect, test } from "vitest";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { randomUUID } from "node:crypto";
import { erasuresOf } from "../../src/cleanup/erasure-record.js";
import { Families } from "../../src/cleanup/executions.js";
import { namespacesOf } from "../../src/cleanup/own-namespaces.js";
import { isSignatureOf } from "../../src/crypto/decision-signature.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import type { PoolClient } from "../../src/postgres/pool.js";
import { commandLine } from "../cli/in-process.js";
import { trustflow } from "../cli/run.js";
import { Operators } from "../harness/stack/operators.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { startServer } from "../temporal/support.js";
import { ofFile } from "../harness/of-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const workflowId = "sendPostal/open";
/** Each server has it, and nobody has named it to `migrate`. */
const other = "temporal-system";
const ring = generateKeyRing();
/** Laid over the configuration. */
let more: Record<string, string> = {};

const database = ofFile(testDatabase);
const own = ofFile(startServer);
const empty = ofFile(startServer);
const folder = await temporaryFolder();
beforeAll(async () => {
  await own.client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody" });
  await effect(workflowId, "now()");
});

async function effect(of: string, updatedAt: string): Promise<void> {
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, provider, state, digest, updated_at)
     values ($1, 'default', $2, 'submit', '0', 'evi-post', 'answered', 'digest', ${updatedAt})`,
    [randomUUID(), of],
  );
}

async function document(namespace: string): Promise<void> {
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ('0', $1, 'a', 'submitted')",
    [namespace],
  );
}

async function run(server: TestWorkflowEnvironment, ...args: string[]) {
  const { code, stdout, stderr } = await commandLine(args, { env: envOf(server) });
  return { code, stdout, said: stderr };
}

const envOf = (server: TestWorkflowEnvironment) => ({
  ...more,
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: server.address,
  TRUSTFLOW_ENVIRONMENT: "sandbox",
  TRUSTFLOW_DOCUMENTS__DIRECTORY: folder,
  TRUSTFLOW_KEYS__CODEC: ring,
  TRUSTFLOW_KEYS__DOCUMENTS: ring,
});

const deleting = [
  ["cleanup"],
  ["cleanup", "--dry-run"],
  ["cleanup", "--repair-only"],
  ["erase", workflowId, "--by", "Ana"],
  ["erase", workflowId, "--dry-run"],
];

async function expectRefused(server: TestWorkflowEnvironment, why: string): Promise<void> {
  for (const args of deleting) {
    const { code, said } = await run(server, ...args);
    expect({ args, code, said }).toEqual({ args, code: 4, said: expect.stringContaining(why) });
  }
  const { rows } = await database.pool.query("select digest from trustflow.effects");
  expect(rows).toContainEqual({ digest: "digest" });
}

test("a server that has none of the newest processes is not noted, nor is anything added to it", async () => {
  expect(await run(empty, "migrate")).toMatchObject({
    code: 4,
    said: expect.stringContaining(
      `none of the newest 1 process(es) of the database, such as ${workflowId}`,
    ),
  });
  const { customAttributes } = await empty.connection.operatorService.listSearchAttributes({
    namespace: "default",
  });
  expect(Object.keys(customAttributes ?? {})).not.toContain("TrustflowPhase");
}, 180_000);

test("a database that was never noted belongs to no Temporal, nor after a migrate of one of the two: nothing is deleted or reset", async () => {
  expect((await run(own, "migrate", "--database-only")).code).toBe(0);
  expect((await run(own, "migrate", "--temporal-only")).code).toBe(0);
  await expectRefused(own, 'run "trustflow migrate"');
}, 180_000);

test("migrate notes the server that has them, once; with that one the commands work, and with another one they refuse", async () => {
  const first = await run(own, "migrate", "--json");
  expect(JSON.parse(first.stdout)).toMatchObject({ notedNamespaces: ["default"] });
  const second = await run(own, "migrate", "--json");
  expect(JSON.parse(second.stdout)).not.toHaveProperty("notedNamespaces");
  expect(await run(own, "cleanup")).toMatchObject({ code: 0 });
  expect(await run(own, "cleanup", "--repair-only")).toMatchObject({ code: 0 });
  expect(await run(own, "erase", workflowId, "--by", "Ana")).toMatchObject({
    code: 1,
    said: expect.stringContaining("is still open"),
  });
  await expectRefused(empty, "do not belong together");
}, 180_000);

test("of a namespace that only rows name, a server that lacks it says so", async () => {
  await document("elsewhere");
  expect(await run(own, "migrate")).toMatchObject({ code: 0 });
  expect((await run(own, "cleanup")).said).toContain('which namespace "elsewhere" is its own');
  await database.pool.query(
    "insert into trustflow.namespaces (name, id) values ('elsewhere', 'gone')",
  );
  expect(await run(own, "cleanup")).toMatchObject({
    code: 4,
    said: expect.stringContaining('Temporal has no namespace "elsewhere"'),
  });
  more = { TEMPORAL_NAMESPACE: "elsewhere" };
  const gone = await run(own, "migrate", "--accept-namespace").finally(() => (more = {}));
  expect(gone.said).toContain('Temporal has no namespace "elsewhere"');
}, 180_000);

test("such a namespace stops neither the repair nor the erasure of a process without documents", async () => {
  expect((await run(own, "cleanup", "--repair-only")).code).toBe(0);
  // Its history was deleted by hand, and its rows are young.
  const finished = "sendPostal/finished";
  await effect(finished, "now()");
  expect(await run(own, "erase", finished, "--by", "Ana")).toMatchObject({
    code: 1,
    said: expect.stringContaining(`Temporal does not have ${finished}`),
  });
  await database.pool.query(
    "update trustflow.effects set updated_at = now() - interval '8 days' where workflow_id = $1",
    [finished],
  );
  expect((await run(own, "erase", finished, "--by", "Ana")).code).toBe(0);
  // A process of that namespace may need the document, and Temporal cannot say so.
  const another = "sendPostal/with-document";
  await effect(another, "now() - interval '8 days'");
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ('1', 'default', $1, 'submitted')",
    [another],
  );
  expect(await run(own, "erase", another, "--by", "Ana")).toMatchObject({
    code: 4,
    said: expect.stringContaining('Temporal has no namespace "elsewhere"'),
  });
  const { rows } = await database.pool.query(
    "delete from trustflow.documents returning workflow_id as id",
  );
  expect(rows).toContainEqual({ id: another });
  await database.pool.query("delete from trustflow.namespaces where name = 'elsewhere'");
}, 180_000);

test("nor is it believed where only a callback names it", async () => {
  await database.pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, state, size, body, settled_at)
     values ('a', 'b', 'evi-post', 'elsewhere', 'sendPostal/a', 'delivered', 1, 'x', now() - interval '100 days')`,
  );
  for (const args of [["cleanup"], ["cleanup", "--dry-run"]])
    expect((await run(own, ...args)).said).toContain('which namespace "elsewhere" is its own');
  const { rows } = await database.pool.query("delete from trustflow.callbacks returning body");
  expect(rows).toEqual([{ body: Buffer.from("x") }]);
}, 180_000);

/** Nothing of it stays. */
async function rolledBack(work: (held: PoolClient) => Promise<void>): Promise<void> {
  const held = await database.pool.connect();
  try {
    await held.query("begin");
    await work(held);
  } finally {
    await held.query("rollback");
    held.release();
  }
}

async function rowsRead(held: PoolClient): Promise<number> {
  const { rows } = await held.query<{ count: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
     from pg_stat_xact_user_tables where schemaname = 'trustflow'`,
  );
  return rows[0]?.count ?? 0;
}

test("the namespaces of the database are found without reading its tables", () =>
  rolledBack(async (held) => {
    await held.query(
      `with fresh as (
         select gen_random_uuid() as id, (array['a', 'default', 'z'])[1 + n % 3] as namespace, n::text as workflow_id
         from generate_series(1, 3000) n),
       owned as (
         insert into trustflow.documents (id, namespace, workflow_id, kind)
         select id::text, namespace || '-of-documents', workflow_id, 'submitted' from fresh)
       insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, digest)
       select id, namespace, workflow_id, 'submit', '0', 'answered', '' from fresh`,
    );
    await held.query("analyze trustflow.effects, trustflow.documents");
    const before = await rowsRead(held);
    expect(await namespacesOf(held, "default")).toEqual(
      expect.arrayContaining(
        ["a", "default", "z"].flatMap((name) => [name, `${name}-of-documents`]),
      ),
    );
    expect((await rowsRead(held)) - before).toBeLessThan(100);
  }));

test("whether a process with very many callbacks is lost is seen by its newest ones", () =>
  rolledBack(async (held) => {
    const add = (state: string, count: number) =>
      held.query(
        `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, state, size, settled_at)
         select $1, n::text, 'evi-post', 'default', 'sendPostal/many', $1, 1, now() from generate_series(1, $2::int) n`,
        [state, count],
      );
    const isOpen = () =>
      new Families({ pool: held as never, clientFor: () => own.client }).isOpen({
        namespace: "default",
        workflowId: "sendPostal/many",
      });
    await add("kept", 3_000);
    await held.query("analyze trustflow.callbacks");
    const before = await rowsRead(held);
    expect(await isOpen()).toBe(false);
    expect((await rowsRead(held)) - before).toBeLessThan(1_500);
    await add("delivered", 1);
    expect(await isOpen()).toBe(true);
  }));

test("where decisions must be signed, only the key of an operator who may erase does, and the record proves it", async () => {
  const id = "sendPostal/signed";
  await effect(id, "now() - interval '8 days'");
  const operators = new Operators("ana", "ben");
  const rules = {
    ...operators.env,
    TRUSTFLOW_DECISIONS__SIGNED: "required",
    TRUSTFLOW_OPERATORS__BEN__MAY: "resolve",
  };
  const eraseAs = (key: Record<string, string>, ...flags: string[]) => {
    more = { ...rules, ...key };
    return run(own, "erase", id, ...flags).finally(() => (more = {}));
  };
  for (const [key, problem] of [
    [{}, "keys.operator: is required"],
    [operators.keyOf("ana", "ben"), "is not the key of a configured operator"],
    [operators.keyOf("ben"), "ben may not erase"],
  ] as const)
    expect(await eraseAs(key, "--by", "Ana")).toMatchObject({
      code: 2,
      said: expect.stringContaining(problem),
    });
  expect((await eraseAs({}, "--dry-run")).code).toBe(0);
  expect(await erasuresOf(database.pool, { workflowId: id })).toEqual([]);
  expect((await eraseAs(operators.keyOf("ana"), "--by", "Ana Ruiz")).code).toBe(0);
  const [erasure] = await erasuresOf(database.pool, { workflowId: id });
  const { operator = "", at = "", value = "" } = erasure?.proof ?? {};
  const about = { namespace: "default", workflowId: id, update: "erase", updateId: "" };
  const publicKey = Buffer.from(
    operators.env["TRUSTFLOW_OPERATORS__ANA__PUBLIC_KEYS"] ?? "",
    "base64",
  );
  for (const [said, holds] of [
    [{ by: erasure?.by }, true],
    [{ by: "Eva" }, false],
  ] as const)
    expect(isSignatureOf(publicKey, { ...about, operator, at, argument: said }, value)).toBe(holds);
  const shown = await run(own, "erasures", id);
  expect(shown.stdout).toMatch(/Ana Ruiz +ana /);
}, 180_000);

test("a namespace that was lost is made again and accepted by one command", async () => {
  await database.pool.query(
    "insert into trustflow.namespaces (name, id) values ('elsewhere', 'lost')",
  );
  more = { TEMPORAL_NAMESPACE: "elsewhere" };
  const args = ["migrate", "--create-namespace", "90", "--accept-namespace", "--json"];
  const { stdout } = await run(own, ...args).finally(() => (more = {}));
  expect(JSON.parse(stdout)).toMatchObject({
    createdNamespace: true,
    notedNamespaces: ["elsewhere"],
  });
  await database.pool.query("delete from trustflow.namespaces where name = 'elsewhere'");
}, 180_000);

test("another server counts only after a person has said so, and then the one before it does not", async () => {
  const remedy = "docker compose run --rm migrate migrate --create-namespace 90 --accept-namespace";
  expect((await run(empty, "migrate")).said).toContain(remedy);
  await database.pool.query("insert into trustflow.namespaces (name, id) values ($1, 'another')", [
    other,
  ]);
  await document(other);
  const accepted = await run(empty, "migrate", "--accept-namespace", "--json");
  expect(JSON.parse(accepted.stdout)).toMatchObject({ notedNamespaces: ["default"] });
  await database.pool.query("delete from trustflow.documents");
  expect((await run(empty, "cleanup", "--dry-run")).code).toBe(0);
  await expectRefused(own, "do not belong together");
}, 180_000);

test("a worker whose namespace is not the noted one does not start: its journal lacks what was sent", async () => {
  const refusal = async (server: TestWorkflowEnvironment) =>
    (await trustflow(["worker"], { env: envOf(server) })).stderr;
  expect(await refusal(own)).toContain("do not belong together");
  // All that keeps this one is that it has too few keys.
  expect(await refusal(empty)).toContain("keys.callback");
}, 180_000);
