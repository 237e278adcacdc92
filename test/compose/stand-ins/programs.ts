// Programs of Go modules in the releases that the deployment names: built once, and kept beside the Temporal dev server.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildGo, type GoBuild } from "../../../packages/dev/src/servers/build-go.js";
import { cacheDirectory } from "../../../packages/dev/src/paths.js";
import type { Progress } from "../../../packages/dev/src/processes/tools.js";
import { compose } from "../../deploy/compose-file.js";

export const standInsFolder = join(cacheDirectory(), "stand-ins");

/** Speaks the API of Debian's engine. */
const COMPOSE_VERSION = "v2.40.3";

export const imageOf = (service: string): string => compose.services[service]?.image ?? "";
/** The release in an image's tag: `v2.10.2` of caddy:2.10.2-alpine. */
const releaseOf = (service: string) => `v${/:(\d+\.\d+\.\d+)/.exec(imageOf(service))?.[1]}`;

type Build = Omit<GoBuild, "target" | "doing" | "withoutGo">;

const temporalOf = (version: string): Build => ({
  ...{ module: "go.temporal.io/server", version },
  programs: { "temporal-server": "./cmd/server", "temporal-sql-tool": "./cmd/tools/sql" },
});

/** Through which an installation of the oldest supported release goes up to that of the deployment. */
export const olderTemporals = ["v1.29.1", "v1.30.8", "v1.31.2"];

const ofDeployment: Record<string, Build> = {
  compose: {
    module: "github.com/docker/compose/v2",
    version: COMPOSE_VERSION,
    programs: { "docker-compose": "./cmd" },
    ldflags: `-X github.com/docker/compose/v2/internal.Version=${COMPOSE_VERSION}`,
  },
  temporal: temporalOf(releaseOf("temporal")),
  ui: {
    module: "github.com/temporalio/ui-server/v2",
    version: releaseOf("temporal-ui"),
    programs: { "ui-server": "./cmd/server" },
    keep: ["config"],
  },
  caddy: {
    module: "github.com/caddyserver/caddy/v2",
    version: releaseOf("web-ui-login"),
    programs: { caddy: "./cmd/caddy" },
  },
};

/** Judges the files of deploy/prometheus. */
const PROMETHEUS_VERSION = "v0.316.0";

const builds: Record<string, Build> = {
  ...ofDeployment,
  promtool: {
    module: "github.com/prometheus/prometheus",
    version: PROMETHEUS_VERSION,
    programs: { promtool: "./cmd/promtool" },
  },
  ...Object.fromEntries(olderTemporals.map((version) => [version, temporalOf(version)])),
};

const folderOf = (name: string) => join(standInsFolder, `${name}-${builds[name]?.version}`);

/** A program, or another file that its module brings. */
export const fileOf = (name: string, file: string): string => join(folderOf(name), file);

export const missingPrograms = (wanted = [...Object.keys(ofDeployment), "promtool"]): string[] =>
  wanted.filter((name) => !existsSync(folderOf(name)));

/** Builds those that are missing; default: all that the deployment names, and promtool. */
export async function buildPrograms(progress: Progress, wanted?: string[]): Promise<void> {
  for (const name of missingPrograms(wanted))
    await buildGo(progress, {
      ...(builds[name] as Build),
      target: folderOf(name),
      doing: `stand-ins: building ${name} with Go; this happens once and takes up to fifteen minutes`,
      withoutGo: "the stand-ins of the images are built with Go: install it",
    });
}
