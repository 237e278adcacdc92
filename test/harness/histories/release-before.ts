// The workflows of the release before the present generation, from the commit before the one that began it.
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { GENERATION } from "../../../src/contracts/shared/names.js";
import { packageDirectory } from "../../../packages/dev/src/paths.js";
import { failureConverterPath } from "../../../src/temporal/codec/data-converter.js";

/** The commit; undefined where git or this part of the history is missing. */
export const releaseBefore = ((): string | undefined => {
  const added = `-SGENERATION = ${GENERATION};`;
  const [begin] = git(
    "log",
    "--format=%H",
    "--reverse",
    added,
    "--",
    "src/contracts/shared/names.ts",
  );
  return begin && git("rev-parse", "--verify", "--quiet", `${begin}^`)[0];
})();

function git(...args: string[]): string[] {
  try {
    const text = execFileSync("git", args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** Bundles the workflows of a commit; `folder` is a new one. */
export async function bundleOf(commit: string, folder: string): Promise<string> {
  await mkdir(folder);
  const archive = join(folder, "src.tar");
  execFileSync("git", ["archive", "--output", archive, commit, "src"]);
  execFileSync("tar", ["-xf", archive, "-C", folder]);
  await symlink(join(packageDirectory, "node_modules"), join(folder, "node_modules"));
  const workflows = join(folder, "src", "workflows");
  const interceptors = await readdir(join(workflows, "interceptors"));
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflows, "index.ts"),
    workflowInterceptorModules: interceptors.map((file) => join(workflows, "interceptors", file)),
    failureConverterPath,
    logger: new DefaultLogger("ERROR"),
  });
  return code;
}
