// The dev server of these tests, a fresh key ring, and a worker of the canary workflows.
import { fileURLToPath } from "node:url";
import type { DataConverter } from "@temporalio/common";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Worker } from "@temporalio/worker";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { findTemporal } from "../../packages/dev/src/servers/find-temporal.js";

export function freshRing(id = "k1"): KeyRing {
  return KeyRing.parse(generateKeyRing(id));
}

export async function startServer(dataConverter?: DataConverter): Promise<TestWorkflowEnvironment> {
  const path = await findTemporal();
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: "existing-path", path },
      log: { format: "json", level: "never" },
    },
    ...(dataConverter && { client: { dataConverter } }),
  });
}

const bundles = new Map<string | undefined, ReturnType<typeof bundleWorkflowCode>>();

/** Bundled once, however many workers a test file starts: that takes seconds. */
function canaryBundle(failureConverterPath?: string): ReturnType<typeof bundleWorkflowCode> {
  const bundle =
    bundles.get(failureConverterPath) ??
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("canary.workflows.ts", import.meta.url)),
      logger: new DefaultLogger("ERROR"),
      ...(failureConverterPath && { failureConverterPath }),
    });
  bundles.set(failureConverterPath, bundle);
  return bundle;
}

/** A failure of the activity puts the canary into message, cause and, through both, the stack. */
export async function canaryWorker(
  env: TestWorkflowEnvironment,
  dataConverter: DataConverter,
): Promise<Worker> {
  return Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace ?? "default",
    taskQueue: "canary",
    dataConverter,
    workflowBundle: await canaryBundle(dataConverter.failureConverterPath),
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
