// The dev server of the tests, a fresh key ring, and a worker of the canary workflows.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { Trustflow } from "../../src/client.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { findTemporal } from "../../packages/dev/src/servers/find-temporal.js";
import { bundled } from "../harness/stack/bundles.js";
import { until } from "../harness/outages/wait.js";

export function freshRing(id = "k1"): KeyRing {
  return KeyRing.parse(generateKeyRing(id));
}

export type TestTemporal = TestWorkflowEnvironment & { namespace: string };

/** The dev server of the run, in a namespace of its own: what other tests start is not in it. */
export async function testTemporal(dataConverter?: DataConverter): Promise<TestTemporal> {
  const address = process.env["TEST_TEMPORAL_ADDRESS"];
  if (!address) throw new Error("TEST_TEMPORAL_ADDRESS is not set");
  const namespace = randomUUID();
  const env = await TestWorkflowEnvironment.createFromExistingServer({
    ...{ address, namespace },
    ...(dataConverter && { client: { dataConverter } }),
  });
  await registerNamespace(env, namespace);
  return Object.assign(env, { namespace });
}

/** The same, without a line of what the SDK says of failing workflows. */
export function quietTemporal(dataConverter?: DataConverter): Promise<TestTemporal> {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { forward: {} } },
  });
  return testTemporal(dataConverter);
}

export const clientIn = (
  { connection, namespace }: Pick<TestTemporal, "connection" | "namespace">,
  dataConverter: DataConverter,
) => new Client({ connection, namespace, dataConverter });

/** Resolves when the namespace can be used. */
export async function registerNamespace(
  { connection }: TestWorkflowEnvironment,
  namespace: string,
): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const client = new Client({ connection, namespace });
  await until(() =>
    client.workflow.count("").then(
      () => true,
      () => false,
    ),
  );
}

/** A dev server of its own, for a test that needs the same namespace on two. */
export async function startServer(): Promise<TestWorkflowEnvironment> {
  const path = await findTemporal();
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: "existing-path", path },
      log: { format: "json", level: "never" },
    },
  });
}

/** Resolves when the first workflow task of a run is completed. */
export const untilFirstTask = (run: WorkflowHandle): Promise<void> =>
  until(async () => (await run.describe()).historyLength >= 4);

/** The dev server with a client, which has fresh keys and a document store, and reads no configuration of this machine. */
export async function startServerAndClient() {
  const env = await testTemporal();
  const folder = await mkdtemp(join(tmpdir(), "trustflow-client-"));
  await writeFile(join(folder, "trustflow.toml"), "");
  const keys = { codec: generateKeyRing(), documents: generateKeyRing() };
  const trustflow = await Trustflow.connect({
    env: { TRUSTFLOW_CONFIG: join(folder, "trustflow.toml"), TEMPORAL_ADDRESS: env.address },
    namespace: env.namespace,
    configuration: { keys, documents: { directory: join(folder, "documents") } },
  });
  return {
    trustflow,
    async close() {
      await trustflow.close();
      await env.teardown();
      await rm(folder, { recursive: true });
    },
  };
}

export const testBundle = () =>
  bundled("all", {
    workflowsPath: fileURLToPath(new URL("all.workflows.ts", import.meta.url)),
  });

/** A failure of the activity puts the canary into message, cause and, through both, the stack. */
export async function canaryWorker(
  env: TestTemporal,
  dataConverter: DataConverter,
): Promise<Worker> {
  return Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue: "canary",
    dataConverter,
    workflowBundle: await testBundle(),
    activities: {
      echo: async (value: string) => value,
      fail: async (value: string) => {
        throw new TypeError(`failed with ${value}`, {
          cause: new RangeError(`because of ${value}`),
        });
      },
    },
  });
}
