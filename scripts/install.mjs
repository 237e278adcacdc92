// Installs the dependencies when what is installed is not what package-lock.json says.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "../src/local/lock.js";
import { killWithUs } from "../src/local/watchdog.js";
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
  if (await isInstalled()) return true;
  return alone(async () => (await isInstalled()) || (await install()));
}

// npm writes the second file last, so it stands for a complete installation, whoever made it.
async function isInstalled() {
  const [wanted, found] = await Promise.all([
    packages("package-lock.json"),
    packages("node_modules/.package-lock.json"),
  ]);
  if (wanted === undefined) throw new Error("package-lock.json is missing");
  if (found === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const there = found[path];
    return there === undefined ? entry.optional === true : there.version === entry.version;
  });
}

/**
 * @param {string} file
 * @returns {Promise<Record<string, { version?: string, optional?: boolean }> | undefined>}
 */
async function packages(file) {
  try {
    return JSON.parse(await readFile(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

async function install() {
  const started = Date.now();
  const [command, args] = npm([
    "ci",
    "--include=dev",
    "--include=optional",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ]);
  const child = spawn(command, args, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const letGo = child.pid === undefined ? undefined : killWithUs(-child.pid, "SIGKILL");
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => void (output += chunk));
  const tell = () =>
    say(`installing the packages (${Math.round((Date.now() - started) / 1000)} s)`);
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
  letGo?.();
  if (code !== 0) say(`npm ci failed:\n${output}`);
  return code === 0;
}
