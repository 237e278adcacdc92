// Builds the Temporal dev server from its Go modules, for this machine or another one, with the licences of all that is linked in.
// The CLI's own program needs a module (cliext) that the module proxies do not have; its dev server does not, so the program is
// temporal/main.go, built inside the CLI's module with an empty cliext.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDirectory } from "../paths.js";
import { withLock } from "../processes/lock.js";
import { isExecutable, type Progress } from "../processes/tools.js";
import { buildGo, type GoSources, type Platform, thisPlatform } from "./build-go.js";

/** The version of Temporal Server; its Web UI is 2.54.1. */
export const TEMPORAL_VERSION = "1.32.1";
const MODULE = "github.com/temporalio/cli";
/** That of the CLI's module, and the Temporal Server that it asks for. */
const MODULE_VERSION = "1.9.1";
const SERVER_OF_MODULE = "1.32.0";
const PROGRAM = "./cmd/trustflow-dev-server";
const programSource = new URL("../../temporal/main.go", import.meta.url);

export const temporalFile = ({ os }: Platform) => (os === "win32" ? "temporal.exe" : "temporal");

/** The npm package that has it for a platform. */
export const temporalPackage = ({ os, cpu }: Platform) => `trustflow-temporal-${os}-${cpu}`;

/** Where a build puts the program, and beside it the file `LICENSES`. Another program source is another folder. */
export function builtTemporal(platform = thisPlatform): string {
  const source = createHash("sha256").update(readFileSync(programSource)).digest("hex").slice(0, 8);
  const name = ["temporal", TEMPORAL_VERSION, source, platform.os, platform.cpu].join("-");
  return join(cacheDirectory(), name, temporalFile(platform));
}

/** One run at a time gets a Temporal dev server. */
export const alone = <T>(progress: Progress, work: () => Promise<T>): Promise<T> =>
  withLock(join(cacheDirectory(), "temporal.lock"), work, () =>
    progress("waiting for another run that is getting the Temporal dev server"),
  );

/** Builds it unless that has been done; returns the program. */
export async function haveBuilt(progress: Progress, platform: Platform): Promise<string> {
  const program = builtTemporal(platform);
  await alone(progress, async () => {
    if (!(await isExecutable(program))) await buildTemporal(progress, platform);
  });
  return program;
}

export async function buildTemporal(progress: Progress, platform = thisPlatform): Promise<void> {
  await buildGo(progress, {
    module: MODULE,
    version: `v${MODULE_VERSION}`,
    programs: { [temporalFile(platform)]: PROGRAM },
    target: dirname(builtTemporal(platform)),
    platform,
    prepare: addProgram,
    finish: async (sources) =>
      writeFile(join(sources.built, "LICENSES"), await licencesOf(sources)),
    doing: `building the Temporal dev server for ${platform.os}-${platform.cpu} with Go; this happens once and takes four minutes or more`,
    withoutGo:
      "the Temporal dev server is not installed, its download is unreachable, and Go is not installed to build it. " +
      "Install the Temporal CLI (on PATH or in TEMPORAL_CLI_PATH) or Go, then try again",
  });
}

async function addProgram(source: string): Promise<void> {
  const manifest = join(source, "go.mod");
  const required = await readFile(manifest, "utf8");
  const server = (version: string) => `go.temporal.io/server v${version}`;
  const raised = required.replace(server(SERVER_OF_MODULE), server(TEMPORAL_VERSION));
  if (raised === required)
    throw new Error(`${MODULE} does not ask for ${server(SERVER_OF_MODULE)}`);
  await writeFile(manifest, raised);
  for (const name of [PROGRAM, "cliext"]) await mkdir(join(source, name), { recursive: true });
  await writeFile(join(source, "cliext/go.mod"), `module ${MODULE}/cliext\n`);
  await copyFile(programSource, join(source, PROGRAM, "main.go"));
}

/** Temporal links them into its own programs. A look at them is due before the first publication. */
const WITHOUT_LICENCE = ["github.com/nexus-rpc/nexus-proto-annotations"];

const licenceFile = /^(licen[cs]e|copying|copyright|notice|patents)([.-]|$)/i;

/** The licence and notice files of Go and of each module in the program. */
async function licencesOf({ go, source, env }: GoSources): Promise<string> {
  const ask = async (args: string[]) =>
    (await promisify(execFile)(go, args, { cwd: source, env, maxBuffer: 1e8 })).stdout.trim();
  const each = "{{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}";
  const listed = await ask(["list", "-deps", "-f", each, PROGRAM]);
  const parts = [
    `Go ${await ask(["env", "GOVERSION"])}\t${await ask(["env", "GOROOT"])}`,
    ...[...new Set(listed.split("\n").filter(Boolean))].toSorted(),
  ];
  const texts = await Promise.all(
    parts.map(async (part) => {
      const [name = "", folder = ""] = part.split("\t");
      const files = (await readdir(folder)).filter((file) => licenceFile.test(file));
      const contents = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
      return { name, text: contents.join("\n") };
    }),
  );
  /** A module in a folder of its repository may have the licence of another module there. */
  const repository = (name: string) => name.split("/").slice(0, 3).join("/");
  return texts
    .map(({ name, text }) => {
      const beside = texts.find(
        (other) => other.text && repository(other.name) === repository(name),
      );
      if (!beside && !WITHOUT_LICENCE.some((module) => name.startsWith(`${module} `)))
        throw new Error(`no licence file in ${name}, which the Temporal dev server contains`);
      return `==== ${name}\n\n${text || (beside ? `See ${beside.name}` : "This module brings no licence file.")}\n`;
    })
    .join("\n");
}
