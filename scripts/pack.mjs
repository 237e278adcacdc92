// Packs what npm gets: `npm run pack` writes a tarball of each package to artifacts/packages. `-- linux-x64` names the platforms whose
// Temporal dev server is packed, default all; `--folder` another folder; `--publishable` leaves `private` out, for a registry of a test.
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { npm, root, runBuild, say } from "./steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, publishable: { type: "boolean" } },
});
const out = resolve(values.folder ?? join(root, "artifacts", "packages"));
const platforms = [
  { os: "linux", cpu: "x64" },
  { os: "linux", cpu: "arm64" },
  { os: "darwin", cpu: "arm64" },
  { os: "win32", cpu: "x64" },
];

/**
 * @typedef {{ name: string, version: string, license: string, private?: boolean, files: string[],
 *   dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Manifest
 * @param {string} folder
 * @returns {Promise<Manifest>}
 */
const manifestIn = async (folder) =>
  JSON.parse(await readFile(join(folder, "package.json"), "utf8"));

if (!(await runBuild())) process.exit(1);
const { haveBuilt, TEMPORAL_VERSION, temporalPackage } = await import(
  new URL("../packages/dev/dist/servers/build-temporal.js", import.meta.url).href
);
const folders = [
  root,
  ...(await readdir(join(root, "packages"))).map((name) => join(root, "packages", name)),
];
const manifests = await Promise.all(folders.map(manifestIn));
const own = new Set(manifests.map(({ name }) => name));
/** The one place that says whether and under which licence all of it may be published. */
const { version, license, private: isPrivate } = await manifestIn(root);
const common = { license, private: isPrivate && !values.publishable ? true : undefined };

/**
 * Only npm needs the platforms' packages: a clone could not install them, as long as no registry has them.
 * @param {Manifest} manifest
 */
function published(manifest) {
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([name, wanted]) => [
      name,
      own.has(name) ? version : wanted,
    ]),
  );
  const servers = Object.fromEntries(
    platforms.map((one) => [temporalPackage(one), TEMPORAL_VERSION]),
  );
  return {
    ...manifest,
    ...common,
    dependencies,
    ...(manifest.name === "trustflow-dev" && { optionalDependencies: servers }),
    ...Object.fromEntries(
      ["scripts", "devDependencies", "workspaces", "overrides", "allowScripts"].map((key) => [
        key,
        undefined,
      ]),
    ),
  };
}

/**
 * @param {object} manifest
 * @param {(stage: string) => Promise<void>} fill
 */
async function pack(manifest, fill) {
  const stage = await mkdtemp(join(tmpdir(), "trustflow-pack-"));
  const unregister = removeOnExit(stage);
  try {
    await writeFile(join(stage, "package.json"), JSON.stringify(manifest, undefined, 2));
    await fill(stage);
    const [command, args] = npm(["pack", "--json", "--pack-destination", out]);
    const { stdout } = await promisify(execFile)(command, args, { cwd: stage, maxBuffer: 1e8 });
    const [{ filename, size, unpackedSize }] = JSON.parse(stdout);
    say(`${filename}: ${megabytes(size)}, installed ${megabytes(unpackedSize)}`);
  } finally {
    await rm(stage, { recursive: true, force: true });
    unregister();
  }
}

/** @param {number} bytes */
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

await mkdir(out, { recursive: true });
for (const [index, folder] of folders.entries()) {
  const manifest = /** @type {Manifest} */ (manifests[index]);
  await pack(published(manifest), async (stage) => {
    for (const name of manifest.files)
      await cp(join(folder, name), join(stage, name), { recursive: true });
  });
}
for (const platform of platforms) {
  const name = temporalPackage(platform);
  if (positionals.length > 0 && !positionals.some((one) => name.endsWith(`-${one}`))) continue;
  const { os, cpu } = platform;
  const program = await haveBuilt(say, platform);
  const manifest = {
    name,
    version: TEMPORAL_VERSION,
    description: `The Temporal dev server for ${os} on ${cpu}, built from its Go modules for trustflow-dev`,
    // Of what is in it. Each licence text is in the file LICENSES.
    ...common,
    license: "SEE LICENSE IN LICENSES",
    os: [os],
    cpu: [cpu],
    preferUnplugged: true,
  };
  await pack(manifest, async (stage) => {
    const bin = join(stage, "bin");
    await mkdir(bin);
    for (const file of await readdir(dirname(program)))
      await copyFile(join(dirname(program), file), join(file === "LICENSES" ? stage : bin, file));
  });
}
