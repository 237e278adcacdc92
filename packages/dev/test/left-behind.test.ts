// Nothing outlives the process that started it, however it ends: its children stop, its throwaway folders go.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { isAlive } from "../src/processes/lock.js";

const dist = (name: string): string => pathToFileURL(join("packages", "dev", "dist", name)).href;

/** A process that starts a child and a throwaway folder, says so, and stays. */
async function starter(program: string): Promise<{ owner: ChildProcess; said: string }> {
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(owner.stdout, "data")) as [Buffer];
  return { owner, said: line.toString().trim() };
}

async function gone(condition: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (condition()) return true;
    await delay(50);
  }
  return false;
}

const holder = (folder: string): string => `
  import { startChild } from "${dist("processes/child.js")}";
  import { removeOnExit } from "${dist("processes/watchdog.js")}";
  removeOnExit(${JSON.stringify(folder)});
  const child = await startChild({ command: "sleep", args: ["600"], logFile: ${JSON.stringify(join(folder, "log"))} });
  console.log(child.pid);
  setInterval(() => {}, 1000);`;

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "after %s of their owner a child ends and a throwaway folder is removed",
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), "trustflow-left-"));
    const { owner, said } = await starter(holder(folder));
    expect(isAlive(Number(said))).toBe(true);
    owner.kill(signal);
    expect(await gone(() => !isAlive(Number(said)) && !existsSync(folder))).toBe(true);
  },
);

test("a killed owner's PostgreSQL stops", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-left-"));
  const { owner, said } = await starter(`
    import { startPostgres } from "${dist("servers/postgres.js")}";
    const server = await startPostgres({ directory: ${JSON.stringify(folder)}, throwaway: true });
    console.log(server.pid);
    setInterval(() => {}, 1000);`);
  owner.kill("SIGKILL");
  expect(await gone(() => !isAlive(Number(said)) && !existsSync(folder))).toBe(true);
});

test("a role ends when its parent is gone, without a signal", async () => {
  const role = `
    import { exitWithParent } from "${pathToFileURL(join("dist", "cli", "parent-watch.js")).href}";
    exitWithParent();
    process.on("SIGTERM", () => process.exit(0));
    setInterval(() => {}, 1000);`;
  const { owner, said } = await starter(`
    import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["--input-type=module", "--eval", ${JSON.stringify(role)}], {
      stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true,
    });
    setTimeout(() => console.log(child.pid), 500);
    setInterval(() => {}, 1000);`);
  expect(isAlive(Number(said))).toBe(true);
  owner.kill("SIGKILL");
  expect(await gone(() => !isAlive(Number(said)))).toBe(true);
});
