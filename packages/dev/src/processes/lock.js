// One run at a time builds or downloads what several runs share. Plain JavaScript, because scripts/ uses it before
// anything is installed or built.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Runs `work` while holding the lock file; a lock whose owner is dead is taken over.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait] called once when another process holds it
 * @returns {Promise<T>}
 */
export async function withLock(file, work, onWait) {
  for (let waited = false; ; waited = true) {
    const release = await tryLock(file);
    if (release) {
      try {
        return await work();
      } finally {
        await release();
      }
    }
    if (!waited) onWait?.();
    await delay(200);
  }
}

/**
 * @param {string} file
 * @returns {Promise<(() => Promise<void>) | undefined>} releases it; undefined when a living process holds it
 */
export async function tryLock(file) {
  await mkdir(dirname(file), { recursive: true });
  if (!(await take(file))) {
    await dropIfStale(file);
    if (!(await take(file))) return undefined;
  }
  return () => rm(file, { force: true });
}

/**
 * It has its owner from its first moment on, also where this process is killed or the disk is full.
 * @param {string} file
 */
async function take(file) {
  const own = asideOf(file);
  try {
    await writeFile(own, String(process.pid));
    await link(own, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/**
 * An empty one is what a power failure leaves.
 * @param {string} file
 */
async function dropIfStale(file) {
  const owner = await readFile(file, "utf8").catch(() => undefined);
  if (owner === undefined || (owner !== "" && isAlive(Number(owner)))) return;
  const aside = asideOf(file);
  await rename(file, aside).catch(() => {});
  await rm(aside, { force: true });
}

/** @param {string} file */
const asideOf = (file) => `${file}.${randomUUID()}`;

/**
 * Whether a process, or any of a process group (a negative number), is running; one that is dead but not yet collected
 * by its parent is not.
 * @param {number} pid
 * @returns {boolean}
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
  if (process.platform !== "linux" || pid < 0) return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
