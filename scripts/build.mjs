// Builds dist/ here and in each package: the compiled sources, the workflow bundle and the JSON Schemas; does nothing when no source has changed.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeDocstrings } from "./docstrings.mjs";
import { alone } from "./install.mjs";
import { bin, root, say } from "./steps.mjs";

/** In the order in which they are compiled: each may use the types of those before. The client's sources are in src/. */
const names = ["packages/sandbox", ".", "packages/client", "packages/dev"];
const sourced = names.filter((name) => name !== "packages/client");
const dist = join(root, "dist");
const schemas = join(root, "packages/client/dist/schemas");
const stampFile = join(dist, ".built");
const bundleFile = join(dist, "workflow-bundle.js");

/** @returns {Promise<void>} */
export async function build() {
  await alone(async () => {
    const stamp = await readStamp();
    const sources = await hashOf([
      ...(await Promise.all(sourced.map((name) => filesBelow(join(root, name, "src"))))).flat(),
      ...[
        "package.json",
        "package-lock.json",
        "tsconfig.json",
        ...names.map((name) => join(name, "tsconfig.build.json")),
        "scripts/build.mjs",
        "scripts/docstrings.mjs",
      ].map((name) => join(root, name)),
    ]);
    if (stamp.sources === sources) return;
    const started = Date.now();
    await compile();
    await writeDocstrings(join(root, "packages/client/dist/contracts"));
    const bundle = await bundleWorkflows(stamp.bundle);
    await writeSchemas();
    await writeFile(stampFile, JSON.stringify({ sources, bundle }));
    say(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  });
}

async function compile() {
  for (const name of names) {
    const config = join(root, name, "tsconfig.build.json");
    const args = ["-p", config, "--noEmitOnError", "--listEmittedFiles", "--pretty", "false"];
    try {
      const { stdout } = await promisify(execFile)(bin("tsc"), args, {
        cwd: root,
        maxBuffer: 100_000_000,
      });
      await removeOrphans(join(root, name, "dist"), stdout);
    } catch (error) {
      const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (
        error
      );
      throw new Error(`the sources do not compile\n${stdout}${stderr}`, { cause: error });
    }
  }
  for (const folder of ["dist", "packages/sandbox/dist"])
    await chmod(join(root, folder, "cli.js"), 0o755);
}

/**
 * What an earlier build left behind.
 * @param {string} built
 * @param {string} listed what the compiler says that it wrote
 */
async function removeOrphans(built, listed) {
  const kept = new Set([
    ...Array.from(listed.matchAll(/^TSFILE: (.*)$/gm), ([, file = ""]) => normalize(file)),
    stampFile,
    bundleFile,
  ]);
  for (const file of await filesBelow(built))
    if (!kept.has(file) && dirname(file) !== schemas) await rm(file);
}

/** @param {string} [before] the stamp of the bundle that is there */
export async function bundleWorkflows(before) {
  const inputs = await Promise.all(
    ["workflows", "contracts", "temporal"].map((name) => filesBelow(join(dist, name))),
  );
  const code = inputs.flat().filter((file) => /\.c?js$/.test(file));
  const stamp = await hashOf([
    ...code,
    join(root, "package-lock.json"),
    fileURLToPath(import.meta.url),
  ]);
  if (stamp === before && (await readFile(bundleFile).catch(() => undefined))) return stamp;
  const { bundleWorkflowCode, DefaultLogger } = await import("@temporalio/worker");
  const { workflowInterceptors } = await built("temporal/workflow-interceptors");
  const bundle = await bundleWorkflowCode({
    workflowsPath: join(dist, "workflows", "index.js"),
    // Their modules hold no state of a process, so those that are cached share them.
    preloadModules: [join(dist, "workflows", "index.js")],
    workflowInterceptorModules: workflowInterceptors.map((/** @type {string} */ name) =>
      join(dist, "workflows", "runtime", `${name}.js`),
    ),
    failureConverterPath: join(dist, "temporal", "codec", "failure-converter.cjs"),
    logger: new DefaultLogger("WARN", ({ level, message }) => say(`${level}: ${message}`)),
  });
  // The SDK formats a stack for each promise that a workflow makes, for the Web UI's Call Stack tab: half of the time of the
  // workflow thread (docs/benchmarks.md). A few frames say as much. The globals are frozen later.
  await replaceFile(bundleFile, `Error.stackTraceLimit = 6; ${withOwnSources(bundle.code)}`);
  return stamp;
}

/**
 * Every worker holds the bundle: of the sources in its map, those of libraries stay away.
 *
 * @param {string} code
 */
function withOwnSources(code) {
  const at = code.lastIndexOf("base64,") + "base64,".length;
  const map = JSON.parse(Buffer.from(code.slice(at), "base64").toString());
  map.sourcesContent = map.sources.map(
    (/** @type {string} */ source, /** @type {number} */ index) =>
      source.includes("node_modules") ? null : map.sourcesContent[index],
  );
  return code.slice(0, at) + Buffer.from(JSON.stringify(map)).toString("base64");
}

/** @param {string} name */
const built = (name) => import(new URL(`../dist/${name}.js`, import.meta.url).href);

async function writeSchemas() {
  const { processes } = await built("contracts/registry");
  /** @type {{ schemasOf: (name: string) => Record<string, object> }} */
  const { schemasOf } = await built("contracts/schemas");
  await mkdir(schemas, { recursive: true });
  for (const name of processes) {
    for (const [part, schema] of Object.entries(schemasOf(name))) {
      await replaceFile(
        join(schemas, `${name}.${part}.json`),
        `${JSON.stringify(schema, undefined, 2)}\n`,
      );
    }
  }
}

/**
 * @param {string} file
 * @param {string} text
 */
async function replaceFile(file, text) {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** @returns {Promise<{ sources?: string, bundle?: string }>} */
async function readStamp() {
  return JSON.parse(await readFile(stampFile, "utf8").catch(() => "{}"));
}

/** @param {string} folder */
async function filesBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** @param {string[]} files */
async function hashOf(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files)
    hash
      .update(relative(root, file))
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await build();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
