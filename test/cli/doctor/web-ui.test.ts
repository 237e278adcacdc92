// Where the doctor sends an operator who opens the Web UI.
import { beforeAll, expect, test } from "vitest";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { eventually } from "../../harness/outages/wait.js";
import { testTemporal } from "../../temporal/support.js";
import { doctor } from "./doctor.js";
import { ofFile } from "../../harness/of-file.js";

const origin = "https://ui.example.test";

let temporal: Record<string, string>;

const server = ofFile(testTemporal);
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
