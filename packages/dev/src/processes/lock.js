// One run at a time builds or downloads what several runs share. Plain JavaScript, because scripts/ uses it before
// anything is installed or built.
import { readFileSync } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
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

/** @param {string} file */
async function take(file) {
  try {
    const handle = await open(file, "wx");
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} file */
async function dropIfStale(file) {
  const owner = await readFile(file, "utf8").catch(() => "");
  if (owner === "" || isAlive(Number(owner))) return;
  const aside = `${file}.${process.pid}`;
  await rename(file, aside).catch(() => {});
  await rm(aside, { force: true });
}

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
