// Workers of other releases: the build with another bundle of workflows, in a folder of its own.
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild, type Child } from "../../../packages/dev/src/processes/child.js";
import { packageDirectory } from "../../../packages/dev/src/paths.js";
import { cleanEnv } from "../../../packages/dev/src/stack/stack-env.js";
import { failureConverterPath } from "../../../src/temporal/codec/data-converter.js";
import { eventually } from "../outages/wait.js";
import type { TestStack } from "./stack.js";

/** The workflows of `defective.workflows.ts`, without a defect unless a marker is replaced. */
export async function defectiveBundle(): Promise<string> {
  const module = fileURLToPath(new URL("defective.workflows.ts", import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath: module,
    workflowInterceptorModules: [
      module,
      ...["query-guard", "payload-guard", "status-memo"].map((name) =>
        fileURLToPath(new URL(`../../../src/workflows/runtime/${name}.ts`, import.meta.url)),
      ),
    ],
    failureConverterPath,
    logger: new DefaultLogger("ERROR"),
  });
  return code;
}

/** Resolves when the worker is ready. */
export async function startRelease(system: TestStack, name: string, code: string): Promise<Child> {
  const { directory } = system.stack;
  const release = join(directory, name);
  await mkdir(release, { recursive: true });
  await cp(join(packageDirectory, "dist"), join(release, "dist"), { recursive: true });
  for (const shared of ["package.json", "node_modules"])
    await symlink(join(packageDirectory, shared), join(release, shared));
  await writeFile(join(release, "dist", "workflow-bundle.js"), code);
  let isReady = false;
  const worker = await startChild({
    command: process.execPath,
    args: [join(release, "dist", "cli.js"), "worker"],
    // The stack's own worker may still have the port.
    env: { ...cleanEnv(), ...system.stack.envOf("worker"), TRUSTFLOW_WORKER__HEALTH_PORT: "" },
    logFile: join(directory, "logs", `${name}.log`),
    onLine: (line) => void (isReady ||= line.includes('"ready"')),
  });
  const ended = () => Promise.reject(new Error(`the release ${name} did not start`));
  const look = () => (worker.isAlive() ? isReady : ended());
  await eventually(`the release ${name} is ready`, look, 60_000);
  return worker;
}
