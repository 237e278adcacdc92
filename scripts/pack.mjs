// Packs what npm gets: `npm run pack` writes a tarball of each package to artifacts/packages. `-- linux-x64` names the platforms whose
// Temporal dev server is packed, default all; `--folder` another folder; `--publishable` leaves `private` out, for a registry of a test.
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { npm, root, runBuild, say } from "./steps.mjs";

/** The page to which the errors of these packages refer: it goes along. */
const errorsPage = "docs/reference/client-errors.md";
const withErrorsPage = ["trustflow", "trustflow-client"];

const platforms = [
  { os: "linux", cpu: "x64" },
  { os: "linux", cpu: "arm64" },
  { os: "darwin", cpu: "arm64" },
  { os: "win32", cpu: "x64" },
];

/**
 * @typedef {{ name: string, version: string, license: string, private?: boolean, files: string[],
 *   dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Manifest
 * @typedef {{ out: string, publishable?: boolean | undefined }} Options
 */

/**
 * Packs the packages whose sources are here, which must be built.
 * @param {Options} options
 * @returns {Promise<string[]>} the tarballs
 */
export async function packSources(options) {
  const { TEMPORAL_VERSION, temporalPackage } = await temporal();
  const folders = [
    root,
    ...(await readdir(join(root, "packages"))).map((name) => join(root, "packages", name)),
  ];
  const manifests = await Promise.all(folders.map(manifestIn));
  const own = new Set(manifests.map(({ name }) => name));
  const { version } = await manifestIn(root);
  // Only npm needs the platforms' packages: a clone could not install them, as long as no registry has them.
  const servers = Object.fromEntries(
    platforms.map((one) => [temporalPackage(one), TEMPORAL_VERSION]),
  );
  const tarballs = [];
  for (const [index, folder] of folders.entries()) {
    const manifest = /** @type {Manifest} */ (manifests[index]);
    const { dependencies = {}, files } = manifest;
    const pages = withErrorsPage.includes(manifest.name) ? [errorsPage] : [];
    const published = {
      ...manifest,
      ...(await common(options)),
      files: [...files, ...pages],
      dependencies: Object.fromEntries(
        Object.entries(dependencies).map(([name, wanted]) => [
          name,
          own.has(name) ? version : wanted,
        ]),
      ),
      ...(manifest.name === "trustflow-dev" && { optionalDependencies: servers }),
      ...Object.fromEntries(
        ["scripts", "devDependencies", "workspaces", "overrides", "allowScripts"].map((key) => [
          key,
          undefined,
        ]),
      ),
    };
    const fill = async (/** @type {string} */ stage) => {
      for (const name of files)
        await cp(join(folder, name), join(stage, name), { recursive: true });
      for (const page of pages) await cp(join(root, page), join(stage, page));
    };
    tarballs.push(await pack(published, fill, options));
  }
  return tarballs;
}

/**
 * Packs the Temporal dev server of a platform; builds it first if that has not been done.
 * @param {{ os: string, cpu: string }} platform
 * @param {Options} options
 */
async function packServer(platform, options) {
  const { haveBuilt, TEMPORAL_VERSION, temporalPackage } = await temporal();
  const { os, cpu } = platform;
  const program = await haveBuilt(say, platform);
  const manifest = {
    name: temporalPackage(platform),
    version: TEMPORAL_VERSION,
    description: `The Temporal dev server for ${os} on ${cpu}, built from its Go modules for trustflow-dev`,
    // Of what is in it. Each licence text is in the file LICENSES.
    ...(await common(options)),
    license: "SEE LICENSE IN LICENSES",
    os: [os],
    cpu: [cpu],
    preferUnplugged: true,
  };
  const fill = async (/** @type {string} */ stage) => {
    const bin = join(stage, "bin");
    await mkdir(bin);
    for (const file of await readdir(dirname(program)))
      await copyFile(join(dirname(program), file), join(file === "LICENSES" ? stage : bin, file));
  };
  await pack(manifest, fill, options);
}

/** Exists only after a build. */
const temporal = () =>
  import(new URL("../packages/dev/dist/servers/build-temporal.js", import.meta.url).href);

/**
 * The manifest of the root alone says whether and under which licence all of it may be published.
 * @param {Options} options
 */
async function common({ publishable = false }) {
  const { license, private: isPrivate } = await manifestIn(root);
  return { license, private: isPrivate && !publishable ? true : undefined };
}

/**
 * @param {string} folder
 * @returns {Promise<Manifest>}
 */
const manifestIn = async (folder) =>
  JSON.parse(await readFile(join(folder, "package.json"), "utf8"));

/**
 * @param {object} manifest
 * @param {(stage: string) => Promise<void>} fill
 * @param {Options} options
 * @returns {Promise<string>} the tarball
 */
async function pack(manifest, fill, { out }) {
  await mkdir(out, { recursive: true });
  const stage = await mkdtemp(join(tmpdir(), "trustflow-pack-"));
  const unregister = removeOnExit(stage);
  try {
    await writeFile(join(stage, "package.json"), JSON.stringify(manifest, undefined, 2));
    await fill(stage);
    const [command, args] = npm(["pack", "--json", "--pack-destination", out]);
    const { stdout } = await promisify(execFile)(command, args, { cwd: stage, maxBuffer: 1e8 });
    const [{ filename, size, unpackedSize }] = JSON.parse(stdout);
    say(`${filename}: ${megabytes(size)}, installed ${megabytes(unpackedSize)}`);
    return join(out, filename);
  } finally {
    await rm(stage, { recursive: true, force: true });
    unregister();
  }
}

/** @param {number} bytes */
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: "string" }, publishable: { type: "boolean" } },
  });
  const named = new Map(platforms.map((platform) => [`${platform.os}-${platform.cpu}`, platform]));
  const unknown = positionals.find((name) => !named.has(name));
  if (unknown !== undefined) {
    console.error(`unknown platform ${unknown}: one of ${[...named.keys()].join(", ")}`);
    process.exit(2);
  }
  const out = resolve(values.folder ?? join(root, "artifacts", "packages"));
  const options = { out, publishable: values.publishable };
  if (!(await runBuild())) process.exit(1);
  await packSources(options);
  for (const [name, platform] of named)
    if (positionals.length === 0 || positionals.includes(name)) await packServer(platform, options);
}
