import { beforeAll, describe, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRequired } from "../../src/config/errors.js";
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
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "documents"),
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_KEYS__INBOX: ring,
    TRUSTFLOW_KEYS__INBOX_PUBLIC: ring,
    TRUSTFLOW_KEYS__DOCUMENTS: ring,
  };
});

test.each([
  [["status", "a"]],
  [["list"]],
  [["result", "sendPostal/a"]],
  [["migrate", "--temporal-only"]],
])("trustflow %j without Temporal ends with 4, at once and with one line", async (args) => {
  const began = Date.now();
  const { code, stdout, stderr } = await commandLine(args, { env });
  expect(code).toBe(4);
  expect(stdout).toBe("");
  expect(stderr).toMatch(
    /^Cannot reach Temporal at 127\.0\.0\.1:\d+: [^\n]+ Is "trustflow dev" running\? [^\n]+\n$/,
  );
  expect(Date.now() - began).toBeLessThan(10_000);
});

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
    expect(stderr).toMatch(/^Cannot reach the database: [^\n]+\n$/);
    expect(stderr).not.toContain("hunter2");
  },
);

test("a missing key of the configuration is named, with its variable", async () => {
  const { code, stderr } = await trustflow(["receiver"]);
  expect(code).toBe(4);
  expect(JSON.parse(stderr).reason).toContain(
    'database.url is required (environment: DATABASE_URL). With "trustflow dev", source ".trustflow/operator.env"',
  );
});

test("a client without the codec key is told which file of the dev server has it", () => {
  expect(isRequired("keys.codec").message).toBe(
    'Configuration: keys.codec is required (environment: TRUSTFLOW_KEYS__CODEC). With "trustflow dev", source ".trustflow/client.env"',
  );
});

test("a key ring that cannot be read is named, and not shown", async () => {
  const { code, stderr } = await commandLine(["documents", "put", join(folder, "x.pdf")], {
    env: { ...env, TRUSTFLOW_KEYS__DOCUMENTS: "k1:c2hvcnQ=" },
    cwd: folder,
  });
  expect(code).toBe(2);
  expect(stderr).toContain("x.pdf: no such file");
  await writeFile(join(folder, "x.pdf"), "%PDF-1.4");
  const again = await commandLine(["documents", "put", join(folder, "x.pdf")], {
    env: { ...env, TRUSTFLOW_KEYS__DOCUMENTS: "k1:c2hvcnQ=" },
  });
  expect(again.code).toBe(4);
  expect(again.stderr).toContain("keys.documents");
  expect(again.stderr).not.toContain("c2hvcnQ=");
});

test("a command that needs no documents asks for no document store", async () => {
  const { TRUSTFLOW_DOCUMENTS__DIRECTORY: _, TRUSTFLOW_KEYS__DOCUMENTS: __, ...rest } = env;
  const { code, stderr } = await commandLine(["status", "a"], { env: rest });
  expect(code).toBe(4);
  expect(stderr).toContain("Cannot reach Temporal");
  expect(stderr).not.toContain("documents");
});

test("with --json a failure is one line of JSON on stderr", async () => {
  const { code, stdout, stderr } = await commandLine(["list", "--json"], { env });
  expect(code).toBe(4);
  expect(stdout).toBe("");
  expect(JSON.parse(stderr)).toMatchObject({ exitCode: 4, error: "OutOfReach" });
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
