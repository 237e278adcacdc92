// Workers of other releases: the build with another bundle of workflows, in a folder of its own.
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageDirectory } from "../../../packages/dev/src/paths.js";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { workflowInterceptors } from "../../../src/temporal/workflow-interceptors.js";
import { startRoleOf } from "../outages/roles.js";
import { bundled } from "./bundles.js";
import type { TestStack } from "./stack.js";

/** The workflows of `defective.workflows.ts`, without a defect unless a marker is replaced. */
export async function defectiveBundle(): Promise<string> {
  const module = fileURLToPath(new URL("defective.workflows.ts", import.meta.url));
  const { codePath } = await bundled("defective", {
    workflowsPath: module,
    preloadModules: [module],
    workflowInterceptorModules: [
      module,
      ...workflowInterceptors.map((name) =>
        fileURLToPath(new URL(`../../../src/workflows/runtime/${name}.ts`, import.meta.url)),
      ),
    ],
  });
  return readFile(codePath, "utf8");
}

/** Resolves when the worker is ready. Its log is `logs/<name>/worker.log`. */
export async function startRelease(system: TestStack, name: string, code: string): Promise<Role> {
  const { directory } = system.stack;
  const release = join(directory, name);
  await mkdir(release, { recursive: true });
  await cp(join(packageDirectory, "dist"), join(release, "dist"), { recursive: true });
  for (const shared of ["package.json", "node_modules"])
    await symlink(join(packageDirectory, shared), join(release, shared));
  await writeFile(join(release, "dist", "workflow-bundle.js"), code);
  // The stack's own worker may still have the port.
  const env = { TRUSTFLOW_WORKER__HEALTH_PORT: "" };
  const program = join(release, "dist", "cli.js");
  return startRoleOf(system, "worker", env, {
    program,
    logDirectory: join(directory, "logs", name),
  });
}
