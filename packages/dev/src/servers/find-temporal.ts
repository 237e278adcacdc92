// Finds the Temporal dev server: in the npm package of this platform, on PATH, or in the cache, where it is put once: from Temporal's
// own download, else built from source with Go.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isExecutable, findOnPath, run } from "../processes/tools.js";
import type { Progress } from "../processes/tools.js";
import {
  alone,
  builtTemporal,
  buildTemporal,
  temporalFile,
  temporalPackage,
} from "./build-temporal.js";
import { thisPlatform } from "./build-go.js";
import { mkdir, readdir } from "node:fs/promises";
import { cacheDirectory, packageDirectory } from "../paths.js";

export async function findTemporal(progress: Progress = () => {}): Promise<string> {
  const named = process.env["TEMPORAL_CLI_PATH"];
  if (named) {
    if (await works(named)) return named;
    throw new Error(`TEMPORAL_CLI_PATH: "${named}" is not a Temporal CLI that runs here`);
  }
  const installed = (await installedByNpm()) ?? (await findOnPath("temporal", works));
  if (installed) return installed;

  const built = builtTemporal();
  const cached = async (): Promise<string | undefined> =>
    (await works(built)) ? built : downloadedBySdk();
  return (
    (await cached()) ??
    alone(progress, async () => {
      const found = (await cached()) ?? (await downloadBySdk(progress));
      if (found === undefined) await buildTemporal(progress);
      return found ?? built;
    })
  );
}

async function works(path: string): Promise<boolean> {
  if (!(await isExecutable(path))) return false;
  const { ok, output } = await run(path, ["--version"], { timeoutMs: 10_000 });
  return ok && output.includes("temporal version");
}

/** Published packages of trustflow-dev bring one for each platform; a clone has none. */
async function installedByNpm(): Promise<string | undefined> {
  try {
    const wanted = `${temporalPackage(thisPlatform)}/package.json`;
    const manifest = createRequire(import.meta.url).resolve(wanted);
    const program = join(dirname(manifest), "bin", temporalFile(thisPlatform));
    return (await works(program)) ? program : undefined;
  } catch {
    return undefined;
  }
}

// The Temporal SDK's own download of its dev server, in a process of its own because only a process can be given up.

const LIMIT_MS = 120_000;
const COMPLETE = /-\d+\.\d+\.\d+(\.exe)?$/;

const folderOf = () => join(cacheDirectory(), "sdk-download", "createLocal");

/** What an earlier download left. */
async function downloadedBySdk(): Promise<string | undefined> {
  const folder = folderOf();
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (COMPLETE.test(name) && (await works(path))) return path;
  }
  return undefined;
}

/** Undefined where the network refuses. */
async function downloadBySdk(progress: Progress): Promise<string | undefined> {
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
  return downloadedBySdk();
}
