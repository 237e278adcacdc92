// Finds the Temporal dev server, or gets it once: from Temporal's own download, else built from source with Go.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "../processes/lock.js";
import { cacheDirectory } from "../paths.js";
import { downloadBySdk, downloadedBySdk } from "./sdk-download.js";
import { isExecutable, findOnPath, type Progress, run } from "../processes/tools.js";
import { removeOnExit } from "../processes/watchdog.js";

const VERSION = "1.5.1";
const SOURCE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
const BUILD_LIMIT_MS = 30 * 60_000;

export async function findTemporal(progress: Progress = () => {}): Promise<string> {
  const named = process.env["TEMPORAL_CLI_PATH"];
  if (named) {
    if (await works(named)) return named;
    throw new Error(`TEMPORAL_CLI_PATH: "${named}" is not a Temporal CLI that runs here`);
  }
  const installed = await findOnPath("temporal", works);
  if (installed) return installed;

  const built = join(cacheDirectory(), `temporal-${VERSION}`, exe("temporal"));
  const cached = async (): Promise<string | undefined> =>
    (await works(built)) ? built : downloadedBySdk("createLocal", works);
  return (
    (await cached()) ??
    withLock(
      join(cacheDirectory(), "temporal.lock"),
      async () => {
        const found = (await cached()) ?? (await downloadBySdk("createLocal", works, progress));
        if (found === undefined) await build(built, progress);
        return found ?? built;
      },
      () => progress("waiting for another run that is getting the Temporal dev server"),
    )
  );
}

async function build(target: string, progress: Progress): Promise<void> {
  const go = await findOnPath("go", undefined, ["/usr/local/go/bin"]);
  if (go === undefined) {
    throw new Error(
      "the Temporal dev server is not installed, its download is unreachable, and Go is not installed to build it. " +
        "Install the Temporal CLI (on PATH or in TEMPORAL_CLI_PATH) or Go, then try again",
    );
  }
  await mkdir(dirname(dirname(target)), { recursive: true });
  const folder = await mkdtemp(join(dirname(dirname(target)), "building-"));
  const unregister = removeOnExit(folder);
  try {
    // Go's caches would leave 3 GB in the home folder.
    const { ok, output } = await run(go, ["install", "-trimpath", "-ldflags=-s -w", SOURCE], {
      env: {
        ...process.env,
        CGO_ENABLED: "0",
        GOBIN: join(folder, "bin"),
        GOCACHE: join(folder, "cache"),
        GOMODCACHE: join(folder, "modules"),
        GOFLAGS: "-modcacherw",
      },
      timeoutMs: BUILD_LIMIT_MS,
      doing:
        "building the Temporal dev server with Go; this happens once and takes four minutes or more",
      progress,
    });
    if (!ok) {
      const why = output.slice(-2_000);
      throw new Error(`building the Temporal dev server failed: go install ${SOURCE}\n${why}`);
    }
    await rm(dirname(target), { recursive: true, force: true });
    await rename(join(folder, "bin"), dirname(target));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    unregister();
  }
}

async function works(path: string): Promise<boolean> {
  if (!(await isExecutable(path))) return false;
  const { ok, output } = await run(path, ["--version"], { timeoutMs: 10_000 });
  return ok && output.includes("temporal version");
}

function exe(name: string): string {
  return process.platform === "win32" ? `${name}.exe` : name;
}
