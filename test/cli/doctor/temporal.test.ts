// What the doctor finds at a Temporal: whether the database has noted it as its own (docs/decisions/0018), and where the Web UI has its
// lists.
import { beforeAll, expect, test } from "vitest";
import { noteNamespaces } from "../../../src/cleanup/own-namespaces.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { ofFile } from "../../harness/of-file.js";
import { eventually } from "../../harness/outages/wait.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { testTemporal } from "../../temporal/support.js";
import { doctor } from "./doctor.js";

const origin = "https://ui.example.test";
const database = ofFile(testDatabase);
const server = ofFile(testTemporal);
let temporal: Record<string, string>;

beforeAll(async () => {
  temporal = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
  await registerSearchAttributes(server.connection, server.namespace);
}, 60_000);

const listsOf = async (env: Record<string, string>) => {
  const { checks } = await doctor(env);
  return checks.filter(({ check }) => check.startsWith("Web UI"));
};

test("each list is a link to the configured Web UI, and the server answers its query", async () => {
  const env = {
    ...temporal,
    TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: `${origin},https://other.example.test`,
  };
  const lists = await eventually("Temporal answered in time", async () => {
    const found = await listsOf(env);
    return found.every(({ state }) => state === "ok") && found;
  });
  const queries = lists.map(({ detail }) => {
    const { href, searchParams } = new URL(detail);
    expect(href).toMatch(`${origin}/namespaces/${server.namespace}/workflows?query=`);
    return searchParams.get("query") ?? "";
  });
  const { attention, deadline } = searchAttributes;
  const today = new Date().toISOString().slice(0, 10);
  expect(queries).toEqual([
    `${attention.name} IS NOT NULL AND ExecutionStatus = "Running"`,
    expect.stringMatching(`^${deadline.name} < "${today}.* AND ExecutionStatus = "Running"$`),
    'ExecutionStatus = "Failed"',
  ]);
  for (const query of queries)
    expect(await server.client.workflow.count(query)).toMatchObject({ count: 0 });
}, 60_000);

test("without an address of the Web UI the doctor says which key has it", async () => {
  expect(await listsOf(temporal)).toEqual([
    {
      check: "Web UI",
      state: "skip",
      detail: "not examined: codecServer.corsOrigins, which has its address, is not set here",
    },
  ]);
}, 60_000);

/** Asked again while a busy machine was too slow. */
const ofDatabase = () =>
  eventually("the check was made", async () => {
    const { checks } = await doctor({ ...temporal, DATABASE_URL: database.url });
    const one = checks.find(({ check }) => check === "namespace of the database");
    return one?.state === "warn" ? undefined : one;
  });

test("namespaceNotOwn: before migrate has noted it, of another one that rows name, and where it is another one", async () => {
  const finding = "namespaceNotOwn";
  const not = (detail: string) => ({ finding, detail: expect.stringContaining(detail) });
  expect(await ofDatabase()).toMatchObject(not("is its own"));
  await noteNamespaces(database.pool, server.connection, server.namespace, false);
  expect(await ofDatabase()).toMatchObject({ state: "ok" });
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ('0', 'elsewhere', 'a', 'submitted')",
  );
  expect(await ofDatabase()).toMatchObject(not('namespace "elsewhere"'));
  await database.pool.query("update trustflow.namespaces set id = 'another'");
  expect(await ofDatabase()).toMatchObject(not("the one with the id another"));
}, 60_000);
