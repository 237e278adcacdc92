// The whole stack comes up from nothing, its roles can be killed and started again, and all of it is gone afterwards.
import { existsSync, mkdtempSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isAlive } from "../../src/local/lock.js";
import { roleNames } from "../../src/local/role.js";
import { type Stack, startStack } from "../../src/local/stack.js";

const directory = mkdtempSync(join(tmpdir(), "trustflow-stack-"));
const deaths: string[] = [];
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    directory,
    persistent: false,
    sandboxSpeed: 100,
    onDeath: ({ name }, { signal }) => void deaths.push(`${name} ${signal}`),
  });
});

afterAll(() => stack.close());

test("everything that listens answers", async () => {
  for (const url of [
    `${stack.receiverUrl}/health`,
    `${stack.receiverUrl}/ready`,
    `${new URL(stack.codecUrl).origin}/health`,
    stack.temporalUi,
  ]) {
    expect({ url, status: (await fetch(url)).status }).toEqual({ url, status: 200 });
  }
});

test("keys and passwords stand in files that only their owner reads", async () => {
  for (const name of ["stack.json", "postgres/password"]) {
    expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
  }
});

test("a role that was killed on purpose comes back as another process, and is no death", async () => {
  const worker = stack.role("worker");
  const { pid } = worker;
  await worker.kill();
  expect(worker.isAlive()).toBe(false);
  await worker.restart();
  expect(worker.isAlive()).toBe(true);
  expect(worker.pid).not.toBe(pid);
  expect(deaths).toEqual([]);
});

test("a role that dies by itself is reported", async () => {
  const relay = stack.role("relay");
  process.kill(relay.pid, "SIGKILL");
  while (deaths.length === 0) await delay(20);
  expect(deaths).toEqual(["relay SIGKILL"]);
});

test("a second stack in the same folder is refused", async () => {
  await expect(startStack({ directory, persistent: false })).rejects.toThrow("running in");
});

test("nothing is left after close", async () => {
  const pids = [
    ...roleNames.map((name) => stack.role(name).pid),
    stack.temporal.pid,
    stack.postgres?.pid ?? 0,
  ];
  await stack.close();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});
