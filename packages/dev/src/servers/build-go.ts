// Builds programs of a published Go module, for this machine or another one. `go install` refuses modules with replacements.
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findOnPath, type Progress, run } from "../processes/tools.js";
import { removeOnExit } from "../processes/watchdog.js";

const BUILD_LIMIT_MS = 60 * 60_000;

/** As Node and npm name them. */
export interface Platform {
  os: string;
  cpu: string;
}

export const thisPlatform: Platform = { os: process.platform, cpu: process.arch };

export interface GoBuild {
  module: string;
  version: string;
  /** The package of each program, by the name of its file. */
  programs: Record<string, string>;
  /** A folder, which is there only when it is complete. */
  target: string;
  /** The files and folders of the module that stand beside the programs. */
  keep?: string[];
  ldflags?: string;
  platform?: Platform;
  /** Changes the sources before they are built. */
  prepare?: (source: string) => Promise<void>;
  finish?: (sources: GoSources) => Promise<void>;
  /** What is being done, and for how long. */
  doing: string;
  /** What to say and do where Go is missing. */
  withoutGo: string;
}

/** What else is asked of Go while the sources are there. */
export interface GoSources {
  go: string;
  source: string;
  env: NodeJS.ProcessEnv;
  /** Becomes the target. */
  built: string;
}

export async function buildGo(progress: Progress, build: GoBuild): Promise<void> {
  const { module, version, programs, target, keep = [], ldflags = "", doing } = build;
  const go = await findOnPath("go", undefined, ["/usr/local/go/bin"]);
  if (go === undefined) throw new Error(build.withoutGo);
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), "building-"));
  const unregister = removeOnExit(folder);
  try {
    const modules = join(folder, "modules");
    const env = goEnvironment(folder, modules, build.platform ?? thisPlatform);
    const source = join(modules, `${module}@${version}`);
    const built = join(folder, "built");
    const step = async (cwd: string, args: string[]) => {
      const options = { cwd, env, progress, doing, timeoutMs: BUILD_LIMIT_MS };
      const { ok, output } = await run(go, args, options);
      if (!ok) throw new Error(`${module}: go ${args.join(" ")} failed\n${output.slice(-2_000)}`);
    };
    await step(folder, ["mod", "download", `${module}@${version}`]);
    await build.prepare?.(source);
    for (const [program, path] of Object.entries(programs)) {
      const flags = ["-trimpath", `-ldflags=-s -w ${ldflags}`, "-o", join(built, program)];
      await step(source, ["build", ...flags, path]);
    }
    for (const path of keep) await cp(join(source, path), join(built, path), { recursive: true });
    await build.finish?.({ go, source, env, built });
    await rm(target, { recursive: true, force: true });
    await rename(built, target);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    unregister();
  }
}

/** With caches in `folder`: in the home folder they would leave 3 GB. */
function goEnvironment(folder: string, modules: string, { os, cpu }: Platform): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CGO_ENABLED: "0",
    GOOS: os === "win32" ? "windows" : os,
    GOARCH: cpu === "x64" ? "amd64" : cpu,
    GOCACHE: join(folder, "cache"),
    GOMODCACHE: modules,
    GOFLAGS: "-modcacherw -mod=mod",
    GOWORK: "off",
  };
}
