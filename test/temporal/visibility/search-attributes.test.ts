import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import {
  missingSearchAttributes,
  registerSearchAttributes,
} from "../../../src/temporal/visibility/search-attributes.js";
import { startServer } from "../support.js";

const names = Object.values(searchAttributes).map(({ name }) => name);
let env: TestWorkflowEnvironment;

beforeAll(async () => {
  env = await startServer();
});
afterAll(() => env.teardown());

async function newNamespace(namespace: string): Promise<string> {
  const { workflowService } = env.connection;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  return namespace;
}

test("a fresh namespace misses all of them, and none once they are registered, from either kind of connection", async () => {
  expect(await missingSearchAttributes(env.connection, "default")).toEqual(names);
  await registerSearchAttributes(env.nativeConnection, "default");
  expect(await missingSearchAttributes(env.nativeConnection, "default")).toEqual([]);
  await registerSearchAttributes(env.connection, "default");
});

test("a workflow can be started with them at once", async () => {
  await registerSearchAttributes(env.connection, "default");
  const handle = await env.client.workflow.start("any", {
    taskQueue: "none",
    workflowId: "with-attributes",
    typedSearchAttributes: [
      { key: searchAttributes.phase, value: "submitting" },
      { key: searchAttributes.references, value: ["a", "b"] },
      { key: searchAttributes.deadline, value: new Date() },
    ],
  });
  await handle.terminate();
});

test("several starters may register at once, and what is missing alone is added", async () => {
  const namespace = await newNamespace("at-once");
  await env.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { TrustflowPhase: 2 },
  });
  expect(await missingSearchAttributes(env.connection, namespace)).toEqual(
    names.filter((name) => name !== "TrustflowPhase"),
  );
  await Promise.all([1, 2, 3].map(() => registerSearchAttributes(env.connection, namespace)));
  expect(await missingSearchAttributes(env.connection, namespace)).toEqual([]);
});

test("a name that is taken by another type is named", async () => {
  const namespace = await newNamespace("other-type");
  await env.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { TrustflowDeadline: 2 },
  });
  await expect(registerSearchAttributes(env.connection, namespace)).rejects.toThrow(
    'TrustflowDeadline of the namespace "other-type" is of type INDEXED_VALUE_TYPE_KEYWORD but must be INDEXED_VALUE_TYPE_DATETIME',
  );
});

test("a namespace that does not exist is an error", async () => {
  await expect(registerSearchAttributes(env.connection, "nowhere")).rejects.toThrow("nowhere");
});
