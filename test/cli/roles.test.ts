import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { once } from "node:events";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { testDatabase, type TestDatabase } from "../support/postgres.js";
import { readyLine, start, trustflow } from "./run.js";

let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  database = await testDatabase({ migrated: false });
  const ring = generateKeyRing();
  env = {
    DATABASE_URL: database.url,
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_RECEIVER__PORT: "0",
    TRUSTFLOW_CODEC_SERVER__PORT: "0",
    TRUSTFLOW_CODEC_SERVER__TOKEN: "a-token-of-the-test-that-is-long-enough",
  };
});
afterAll(() => database.close());

test("a role whose database lacks migrations ends with 4 and names the remedy", async () => {
  const { code, stderr } = await trustflow(["receiver"], { env });
  expect(code).toBe(4);
  expect(stderr).toContain('run "trustflow migrate"');
});

test("migrate adds what is missing, and nothing the second time", async () => {
  const first = await trustflow(["migrate", "--database-only", "--json"], { env });
  expect(first.code).toBe(0);
  expect((JSON.parse(first.stdout) as { migrations: string[] }).migrations).not.toHaveLength(0);
  const second = await trustflow(["migrate", "--database-only", "--json"], { env });
  expect(JSON.parse(second.stdout)).toEqual({ migrations: [] });
});

test.each(["receiver", "codec-server", "sandbox"])(
  "%s says that it is ready, is healthy, and ends with 0 on SIGTERM",
  async (name) => {
    await trustflow(["migrate", "--database-only"], { env });
    const args = name === "sandbox" ? [name, "--port", "0"] : [name];
    const role = start(args, { env });
    const { ready, url } = await readyLine(role);
    expect(ready).toBe(name);
    const response = await fetch(
      `${String(url)}${name === "sandbox" ? "/_sandbox/state" : "/health"}`,
    );
    expect(response.status).toBe(200);
    await response.body?.cancel();
    role.kill("SIGTERM");
    const [code] = (await once(role, "exit")) as [number | null];
    expect(code).toBe(0);
  },
);

test("a port that is taken ends a role with 4", async () => {
  const first = start(["sandbox", "--port", "0"], { env });
  const { url } = await readyLine(first);
  const { code, stderr } = await trustflow(["sandbox", "--port", new URL(String(url)).port]);
  expect(code).toBe(4);
  expect(stderr).toContain("EADDRINUSE");
  first.kill("SIGTERM");
  await once(first, "exit");
});

test("the inbox can be read, and a callback that is not there is unknown", async () => {
  await trustflow(["migrate", "--database-only"], { env });
  const list = await trustflow(["callbacks", "list", "--json"], { env });
  expect(JSON.parse(list.stdout)).toEqual([]);
  expect((await trustflow(["callbacks", "show", "7"], { env })).code).toBe(3);
  expect((await trustflow(["callbacks", "show", "x"], { env })).code).toBe(2);
  const replay = await trustflow(["callbacks", "replay", "7", "--json"], { env });
  expect(JSON.parse(replay.stdout)).toEqual({ replayed: [], notReplayed: ["7"] });
  expect(replay.code).toBe(1);
});
