// One holder at a time, and a dead holder does not block the next one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { isAlive, tryLock, withLock } from "../src/processes/lock.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

let folder = "";
let file = "";

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, "below", "lock");
});

test("work under one lock never overlaps, and who waits is told once", async () => {
  let inside = 0;
  let most = 0;
  let waits = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withLock(file, work, () => waits++)));
  expect(most).toBe(1);
  expect(waits).toBe(2);
});

test("the lock is free again after work that failed", async () => {
  await expect(withLock(file, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(withLock(file, () => Promise.resolve("yes"))).resolves.toBe("yes");
});

test("a lock that a living process holds is refused, and names its process id", async () => {
  const release = await tryLock(file);
  expect(await tryLock(file)).toBeUndefined();
  expect(await readFile(file, "utf8")).toBe(String(process.pid));
  await release?.();
  expect(await tryLock(file)).toBeDefined();
});

test("the lock of a dead process is taken over, and one that a power failure has emptied", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  for (const owner of [String(child.pid), ""]) {
    await (
      await tryLock(file)
    )?.();
    await writeFile(file, owner);
    const release = await tryLock(file);
    expect(release).toBeDefined();
    expect(await readdir(dirname(file))).toEqual(["lock"]);
    await release?.();
  }
});

test("this process is alive, a finished child is not", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(child.pid ?? -1)).toBe(false);
});
