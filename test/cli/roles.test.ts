import { beforeAll, expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { secretsNotKept } from "../../src/callbacks/relay/relay.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { migrate } from "../../src/postgres/migrate.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { commandLine } from "./in-process.js";
import { readyLine, start, trustflow } from "./run.js";
import { ofFile } from "../harness/of-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const database = ofFile(() => testDatabase({ migrated: false }));
let env: Record<string, string>;
const folder = await temporaryFolder();

beforeAll(() => {
  const ring = generateKeyRing();
  env = {
    DATABASE_URL: database.url,
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_KEYS__INBOX: ring,
    TRUSTFLOW_KEYS__INBOX_PUBLIC: ring,
    TRUSTFLOW_RECEIVER__PORT: "0",
    TRUSTFLOW_CODEC_SERVER__PORT: "0",
    TRUSTFLOW_CODEC_SERVER__TOKEN: "a-token-of-the-test-that-is-long-enough",
  };
});

test("a role whose database lacks migrations ends with 4 and names the remedy", async () => {
  const { code, stderr } = await trustflow(["receiver"], { env });
  expect(code).toBe(4);
  const reason = expect.stringContaining('run "trustflow migrate"');
  expect(JSON.parse(stderr)).toMatchObject({ exitCode: 4, reason });
});

test("migrate adds what is missing, and nothing the second time", async () => {
  const first = await commandLine(["migrate", "--database-only", "--json"], { env });
  expect(first.code).toBe(0);
  expect((JSON.parse(first.stdout) as { migrations: string[] }).migrations).not.toHaveLength(0);
  const second = await commandLine(["migrate", "--database-only", "--json"], { env });
  expect(JSON.parse(second.stdout)).toMatchObject({ migrations: [] });
});

test.each(["receiver", "sandbox"])(
  "%s says that it is ready, is so, and ends with 0 on SIGTERM, however often",
  async (name) => {
    await migrate(database.pool);
    const args = name === "sandbox" ? [name, "--port", "0"] : [name];
    const role = start(args, { env });
    const { ready, url } = await readyLine(role);
    expect(ready).toBe(name);
    for (const path of ["/health", "/ready"]) {
      const response = await fetch(String(url) + path);
      expect([path, response.status, await response.json()]).toEqual([path, 200, { ok: true }]);
    }
    const ended = once(role, "exit") as Promise<[number | null]>;
    const insisting = setInterval(() => role.kill("SIGTERM"), 1);
    role.kill("SIGINT");
    const [code] = await ended;
    clearInterval(insisting);
    expect(code).toBe(0);
  },
);

test("without keys.secretsPublic, a relay says that it keeps no secret of a video account's callbacks", async () => {
  await migrate(database.pool);
  const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__";
  const { stderr } = await trustflow(["relay"], {
    env: {
      ...{ ...env, TEMPORAL_ADDRESS: "127.0.0.1:1" },
      [`${account}BASE_URL`]: "https://provider.example.test",
    },
  });
  expect(stderr).toContain(secretsNotKept);
});

test("a role that fails says so, and why, in one line of JSON", async () => {
  const { code, stdout, stderr } = await trustflow(["codec-server"], {
    env: { ...env, TRUSTFLOW_CODEC_SERVER__TOKEN: "short-secret" },
  });
  expect([code, stdout]).toEqual([4, ""]);
  const line = JSON.parse(stderr) as object;
  const reason = expect.stringContaining("codecServer.token: must be at least 16");
  expect(line).toMatchObject({ level: "error", role: "codec-server", reason });
  expect(stderr).not.toContain("short-secret");
});

test("what Node itself would print is a line of the log too, without its text", async () => {
  const canary = "Q7XJ2VK9";
  const preload = join(folder, "stumble.mjs");
  await writeFile(
    preload,
    `process.once("SIGUSR2", () => {
       process.emitWarning("${canary}");
       setTimeout(() => { throw new TypeError("${canary}\\n${canary}"); }, 1);
     });`,
  );
  const role = start(["codec-server"], { env: { ...env, NODE_OPTIONS: `--import=${preload}` } });
  const said = text(role.stderr as NodeJS.ReadableStream);
  await readyLine(role);
  role.kill("SIGUSR2");
  const [code] = (await once(role, "exit")) as [number | null];
  expect(code).toBe(1);
  const lines = (await said).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "warn", role: "codec-server", kind: "Warning" },
    {
      level: "error",
      message: "uncaught",
      error: { types: ["TypeError"] },
      at: expect.stringContaining("stumble.mjs"),
    },
  ]);
  expect(lines.join()).not.toContain(canary);
});

test("a port that is taken ends a role with 4, and the sandbox without Trustflow too", async () => {
  const first = start(["sandbox", "--port", "0"], { env });
  const { url } = await readyLine(first);
  const taken = ["--port", new URL(String(url)).port];
  const { code, stderr } = await trustflow(["sandbox", ...taken]);
  expect(code).toBe(4);
  expect(stderr).toMatch(/EADDRINUSE.*choose others by --host, --port and --tls-port/);
  const alone = spawnSync(process.execPath, ["packages/sandbox/dist/cli.js", ...taken]);
  expect([alone.status, String(alone.stderr)]).toEqual([4, stderr]);
  first.kill("SIGTERM");
  await once(first, "exit");
});

test("the inbox can be read, and a callback that is not there is unknown", async () => {
  await migrate(database.pool);
  const list = await commandLine(["callbacks", "list", "--json"], { env });
  expect(JSON.parse(list.stdout)).toEqual([]);
  expect((await commandLine(["callbacks", "show", "7"], { env })).code).toBe(3);
  expect((await commandLine(["callbacks", "show", "x"], { env })).code).toBe(2);
  const replay = await commandLine(["callbacks", "replay", "7", "--json"], { env });
  expect(JSON.parse(replay.stdout)).toEqual({ replayed: [], notReplayed: ["7"] });
  expect(replay.code).toBe(1);
});
