// The whole stack comes up from nothing, its roles can be killed and started again, and all of it is gone afterwards.
import { existsSync, mkdtempSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAlive } from "../../../packages/dev/src/processes/lock.js";
import { roleNames } from "../../../packages/dev/src/stack/role.js";
import { type Stack, startStack } from "../../../packages/dev/src/stack/stack.js";
import { argumentLists } from "../../harness/left-over.js";
import { until } from "../../harness/outages/wait.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { temporaryFolder } from "../../harness/temporary.js";

const directory = mkdtempSync(join(tmpdir(), "trustflow-stack-"));
const config = `${directory}.toml`;
const deaths: string[] = [];
let stack: Stack;
const argumentsSeen = new Set<string>();

beforeAll(async () => {
  const starting = startStack({
    directory,
    persistent: false,
    sandboxSpeed: 100,
    config,
    onDeath: ({ name }, { signal }) => void deaths.push(`${name} ${signal}`),
  });
  let isUp = false;
  void starting.finally(() => (isUp = true)).catch(() => undefined);
  // Everybody on a machine may read them.
  for (let isOver = false; !isOver; await delay(20)) {
    isOver = isUp;
    for (const list of await argumentLists()) argumentsSeen.add(list);
  }
  stack = await starting;
}, 120_000);

afterAll(() => stack?.close());

test("keys and passwords stand in files that only their owner reads", async () => {
  for (const name of ["stack.json", "postgres/password"]) {
    expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
  }
});

test("no secret stands in an argument list, while the stack starts and when it is up", async () => {
  const { keys, codecToken } = JSON.parse(await readFile(join(directory, "stack.json"), "utf8"));
  const rings = Object.values(keys as Record<string, string>);
  const secrets = [
    ...rings.map((ring) => ring.slice(ring.indexOf(":") + 1)),
    codecToken,
    (await readFile(join(directory, "postgres", "password"), "utf8")).trim(),
  ];
  const all = [...argumentsSeen].join("\n");
  for (const program of [...roleNames, "server start-dev", "postgres"])
    expect(all).toContain(program);
  expect(secrets.every((secret) => secret.length > 15)).toBe(true);
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
});

test("the Web UI knows the codec server and its token all the same, and no file keeps them", async () => {
  const settings = (await (await fetch(`${stack.temporalUi}/api/v1/settings`)).json()) as {
    Codec: { Endpoint: string };
  };
  expect(settings.Codec.Endpoint).toBe(stack.codecUrl);
  const file = join(directory, "logs", "temporal.log.settings");
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("a role that dies by itself is reported, and none that was killed on purpose", async () => {
  const worker = stack.role("worker");
  await worker.kill();
  expect(worker.isAlive()).toBe(false);
  await worker.restart();
  expect(worker.isAlive()).toBe(true);
  process.kill(stack.role("relay").pid, "SIGKILL");
  await until(() => deaths.length > 0);
  expect(deaths).toEqual(["relay SIGKILL"]);
});

test("a trustflow.toml that the roles refuse is refused before they are stopped", async () => {
  const before = { ...stack.env };
  await writeFile(config, "[journal]\nleesSeconds = 1\n");
  expect(() => stack.reconfigure()).toThrow("journal: unknown key: leesSeconds");
  expect(stack.env).toEqual(before);
  await rm(config);
});

test("a second stack in the same folder is refused", async () => {
  await expect(startStack({ directory, persistent: false })).rejects.toThrow("--directory");
});

test("a database of one's own that belongs to another Temporal is refused, and its mark stays; a new one is noted", async () => {
  const database = await testDatabase();
  const start = async () => {
    const directory = await temporaryFolder();
    const started = await startStack({
      directory,
      persistent: false,
      roles: [],
      databaseUrl: database.url,
    });
    await started.close();
  };
  const noted = async () =>
    (await database.pool.query("select name, id from trustflow.namespaces")).rows;
  try {
    await start();
    const before = await noted();
    expect(before).toMatchObject([{ name: "default" }]);
    await expect(start()).rejects.toThrow("do not belong together");
    expect(await noted()).toEqual(before);
  } finally {
    await database.close();
  }
}, 120_000);

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
