// The doctor says whether the database has noted this Temporal as its own (docs/decisions/0018).
import { expect, test } from "vitest";
import { noteNamespaces } from "../../../src/cleanup/own-namespaces.js";
import { eventually } from "../../harness/outages/wait.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { testTemporal } from "../../temporal/support.js";
import { doctor } from "./doctor.js";
import { ofFile } from "../../harness/of-file.js";

const database = ofFile(testDatabase);
const server = ofFile(testTemporal);

/** Asked again while a busy machine was too slow. */
const found = () =>
  eventually("the check was made", async () => {
    const env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: server.namespace,
    };
    const { checks } = await doctor(env);
    const one = checks.find(({ check }) => check === "namespace of the database");
    return one?.state === "warn" ? undefined : one;
  });

test("namespaceNotOwn: before migrate has noted it, and where it is another one", async () => {
  const finding = "namespaceNotOwn";
  expect(await found()).toMatchObject({ finding, detail: expect.stringContaining("is its own") });
  await noteNamespaces(database.pool, server.connection, server.namespace, false);
  expect(await found()).toMatchObject({ state: "ok" });
  await database.pool.query("update trustflow.namespaces set id = 'another'");
  expect(await found()).toMatchObject({
    finding: "namespaceNotOwn",
    detail: expect.stringContaining("the one with the id another"),
  });
}, 60_000);
