import { beforeAll, describe, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { closedPort } from "./doctor/doctor.js";
import { commandLine } from "./in-process.js";
import { trustflow } from "./run.js";
import { temporaryFolder } from "../harness/temporary.js";

const folder = await temporaryFolder();
let env: Record<string, string>;

beforeAll(async () => {
  const port = await closedPort();
  const ring = generateKeyRing();
  env = {
    DATABASE_URL: `postgresql://user:hunter2@127.0.0.1:${port}/trustflow`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_KEYS__INBOX: ring,
    TRUSTFLOW_KEYS__INBOX_PUBLIC: ring,
  };
});

test.each([[["status", "a"]], [["list"]], [["migrate", "--temporal-only"]]])(
  "trustflow %j without Temporal ends with 4, at once and with one line",
  async (args) => {
    const began = Date.now();
    const { code, stdout, stderr } = await commandLine(args, { env });
    expect([code, stdout]).toEqual([4, ""]);
    expect(stderr).toMatch(
      /^Cannot reach Temporal at 127\.0\.0\.1:\d+: [^\n]+ Is "trustflow dev" running\? [^\n]+\n$/,
    );
    expect(Date.now() - began).toBeLessThan(10_000);
    const inJson = await commandLine([...args, "--json"], { env });
    expect(JSON.parse(inJson.stderr)).toMatchObject({ exitCode: 4, error: "OutOfReach" });
  },
);

test("a role without PostgreSQL ends with 4 and one line of JSON, without the password", async () => {
  const role = "worker";
  const { code, stderr } = await trustflow([role], { env });
  expect(code).toBe(4);
  const reason = expect.stringMatching(/^Cannot reach the database: /);
  expect(JSON.parse(stderr)).toMatchObject({ level: "error", role, exitCode: 4, reason });
  expect(stderr).not.toContain("hunter2");
});

test.each([[["callbacks", "parked"]], [["migrate", "--database-only"]], [["cleanup"]]])(
  "trustflow %j without PostgreSQL ends with 4 and one line, without the password",
  async (args) => {
    const { code, stderr } = await commandLine(args, { env });
    expect(code).toBe(4);
    expect(stderr).toMatch(
      /^Cannot reach the database: [^\n]+ source "\.trustflow\/operator\.env"[^\n]+\n$/,
    );
    expect(stderr).not.toContain("hunter2");
  },
);

test("a sandbox that does not answer: the command says where its address comes from", async () => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  const { code, stderr } = await commandLine(["sandbox", "state", "--url", url]);
  expect(code).toBe(4);
  expect(stderr).toMatch(
    /ECONNREFUSED\. [^\n]+ source "\.trustflow\/client\.env"; [^\n]+ --url\n$/,
  );
});

test("a missing key of the configuration is named, with its variable", async () => {
  const { code, stderr } = await trustflow(["receiver"]);
  expect(code).toBe(4);
  expect(JSON.parse(stderr).reason).toContain(
    'database.url is required (environment: DATABASE_URL). With "trustflow dev", source ".trustflow/operator.env"',
  );
});

describe("a configuration that several share, with the secrets of the workers elsewhere", () => {
  const shared = `[database]
url = { env = "NOT_HERE" }
[keys]
codec = { env = "CODEC" }
journal = { file = "/nowhere/journal" }
[accounts.default.messaging-gateway]
baseUrl = "https://messages.example"
username = "acme"
password = { file = "/nowhere/messages" }
`;
  let own: { env: Record<string, string> };
  beforeAll(async () => {
    const path = join(folder, "shared.toml");
    await writeFile(path, shared);
    const { TEMPORAL_ADDRESS = "", TRUSTFLOW_KEYS__CODEC: CODEC = "" } = env;
    own = { env: { TRUSTFLOW_CONFIG: path, TEMPORAL_ADDRESS, CODEC } };
  });

  test.each([
    [["list"]],
    [["status", "a"]],
    [["resolve", "a", "--decision", "retry", "--by", "b"]],
  ])("trustflow %j gets as far as Temporal", async (args) => {
    expect((await commandLine(args, own)).stderr).toMatch(
      /^Cannot reach Temporal at 127\.0\.0\.1:\d+/,
    );
  });

  test("a worker says at once what it lacks of its accounts", async () => {
    const { code, stderr } = await trustflow(["worker"], own);
    expect(code).toBe(4);
    const place = "accounts.default.messaging-gateway";
    expect(stderr).toContain(`${place}.password: the file does not exist`);
    expect(stderr).toContain(`${place}.apiKey is required (environment: `);
  });

  test("doctor names each that is not here", async () => {
    const { stdout } = await commandLine(["doctor", "--json"], own);
    for (const key of [
      "database.url",
      "keys.journal",
      "accounts.default.messaging-gateway.password",
    ])
      expect(stdout).toContain(`Configuration: ${key}: the `);
  });
});
