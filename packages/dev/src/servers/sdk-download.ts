// The Temporal SDK's own download of its dev server, in a process of its own because only a process can be given up.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory, packageDirectory } from "../paths.js";
import { type Progress, run } from "../processes/tools.js";

const LIMIT_MS = 120_000;
const COMPLETE = /-\d+\.\d+\.\d+(\.exe)?$/;

const folderOf = () => join(cacheDirectory(), "sdk-download", "createLocal");

/** What an earlier download left. */
export async function downloadedBySdk(
  works: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  const folder = folderOf();
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (COMPLETE.test(name) && (await works(path))) return path;
  }
  return undefined;
}

/** Undefined where the network refuses. */
export async function downloadBySdk(
  works: (path: string) => Promise<boolean>,
  progress: Progress,
): Promise<string | undefined> {
  const folder = folderOf();
  await mkdir(folder, { recursive: true });
  const executable = { type: "cached-download", downloadDir: folder };
  const script = `
    import { TestWorkflowEnvironment } from "@temporalio/testing";
    const env = await TestWorkflowEnvironment.createLocal({ server: { executable: ${JSON.stringify(executable)} } });
    await env.teardown();`;
  await run(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: packageDirectory,
    timeoutMs: LIMIT_MS,
    doing: "looking for a download of the Temporal dev server",
    progress,
  });
  return downloadedBySdk(works);
}
