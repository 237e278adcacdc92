// Installs the dependencies when what is installed is not what package-lock.json says, and runs the install scripts that are allowed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "../packages/dev/src/processes/lock.js";
import { killOnExit } from "../packages/dev/src/processes/watchdog.js";
import { npm, root, say } from "./steps.mjs";

const checkout = createHash("sha256").update(root).digest("hex").slice(0, 16);

/**
 * One run at a time changes this checkout.
 * @template T
 * @param {() => Promise<T>} work
 */
export function alone(work) {
  return withLock(join(tmpdir(), `trustflow-${checkout}.lock`), work, () =>
    say("waiting for another run in this checkout"),
  );
}

/** @returns {Promise<boolean>} */
export async function ensureInstalled() {
  if (await isReady()) return true;
  return alone(
    async () =>
      ((await isInstalled()) || (await install())) &&
      ((await hasRunScripts()) || (await runScripts())),
  );
}

async function isReady() {
  return (await isInstalled()) && (await hasRunScripts());
}

// npm writes the second file last, so it marks a complete installation.
async function isInstalled() {
  const [wanted, found] = await Promise.all([
    packages("package-lock.json"),
    packages("node_modules/.package-lock.json"),
  ]);
  if (wanted === undefined) throw new Error("package-lock.json is missing");
  if (found === undefined) return false;
  // Those of other platforms may be away; our own optional packages may not, as the tests need them.
  const own = Object.keys(wanted[""]?.optionalDependencies ?? {}).map(
    (name) => `node_modules/${name}`,
  );
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const there = found[path];
    if (there === undefined) return entry.optional === true && !own.includes(path);
    return there.version === entry.version;
  });
}

/**
 * @typedef {{ version?: string, optional?: boolean, optionalDependencies?: Record<string, string> }} Entry
 * @param {string} file
 * @returns {Promise<Record<string, Entry> | undefined>}
 */
async function packages(file) {
  try {
    return JSON.parse(await readFile(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

// .npmrc lets no install script run, with any npm; those of the list `allowScripts` are run here, and that is noted.
const ranFile = join(root, "node_modules", ".trustflow-scripts");

/** The packages of the list that are installed, as `name@version`. */
async function allowed() {
  const { allowScripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const found = (await packages("node_modules/.package-lock.json")) ?? {};
  return Object.entries(found)
    .map(([path, { version }]) => ({ name: path.replace(/^.*node_modules\//, ""), version }))
    .filter(({ name }) => allowScripts[name] === true)
    .map(({ name, version }) => `${name}@${version}`)
    .toSorted();
}

async function hasRunScripts() {
  const ran = await readFile(ranFile, "utf8").catch(() => undefined);
  return ran === (await allowed()).join("\n");
}

async function runScripts() {
  const list = await allowed();
  const names = list.map((one) => one.replace(/@[^@]+$/, ""));
  const rebuild = ["rebuild", "--ignore-scripts=false", "--loglevel=error", ...names];
  if (names.length > 0 && !(await runNpm(rebuild, `running ${names.length} install scripts`)))
    return false;
  await writeFile(ranFile, list.join("\n"));
  return true;
}

function install() {
  const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  return runNpm([...args, "--loglevel=error"], "installing the packages");
}

/**
 * @param {string[]} given
 * @param {string} doing
 * @returns {Promise<boolean>}
 */
async function runNpm(given, doing) {
  const started = Date.now();
  const [command, args] = npm(given);
  const child = spawn(command, args, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const unregister = child.pid === undefined ? undefined : killOnExit(-child.pid, "SIGKILL");
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => void (output += chunk));
  const tell = () => say(`${doing} (${Math.round((Date.now() - started) / 1000)} s)`);
  tell();
  const ticker = setInterval(tell, 10_000);
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      output += error.message;
      resolve(1);
    });
    child.once("close", resolve);
  });
  clearInterval(ticker);
  unregister?.();
  if (code !== 0) say(`npm ${given[0]} failed:\n${output}`);
  return code === 0;
}
