// Credentials and payloads leave this machine encrypted, or nothing starts: outside the sandbox, and an API key of Temporal anywhere.
import { afterEach, expect, test } from "vitest";
import { ConfigurationError } from "../../src/config/config.js";
import { ConfigWithAccounts, loadWithAccounts } from "../../src/providers/accounts.js";
import { baseUrls } from "../../src/config/clear-text.js";
import type { Checked } from "../../src/cli/doctor/check.js";
import { Trustflow } from "../../src/client.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { openPool } from "../../src/roles/database.js";
import { temporalSettings } from "../../src/roles/temporal.js";
import { connectionOptions } from "../../src/temporal/connection.js";
import { commandLine } from "../cli/in-process.js";

const before = process.env;
afterEach(() => {
  process.env = before;
});

const none = "/nonexistent/temporal.toml";
const account = "TRUSTFLOW_ACCOUNTS__DEFAULT";
const accounts: Record<string, Record<string, string>> = {
  EVI_POST: { BASE_URL: "post", USERNAME: "u", PASSWORD: "p" },
  EVI_NOTICE: { BASE_URL: "notices", USERNAME: "u", PASSWORD: "p" },
  MESSAGING_GATEWAY: { BASE_URL: "messages", USERNAME: "u", PASSWORD: "p", API_KEY: "k" },
  ONE_SHOT_SIGNATURE: { BASE_URL: "signatures", TOKEN: "t" },
  VIDEO_IDENTIFICATION: { BASE_URL: "calls", API_KEY: "k" },
  ENVELOPE_SIGNATURE: {
    CA_BASE_URL: "ca",
    ESIGN_BASE_URL: "esign",
    API_TOKEN: "t",
    VENDOR: "v",
    PKCS12_FILE: "f",
  },
  CREDENTIAL_WALLET: { BASE_URL: "wallet", API_TOKEN: "t" },
  DISPOSABLE_CERTIFICATE: {
    BASE_URL: "certificates",
    USERNAME: "u",
    PASSWORD: "p",
    LRA_ID: "l",
    PKCS12_FILE: "f",
  },
};

/** Every provider, at https addresses. */
function configured(environment: string, changes: Record<string, string> = {}) {
  const keys = Object.entries(accounts).flatMap(([provider, all]) =>
    Object.entries(all).map(([key, value]) => [
      `${account}__${provider}__${key}`,
      key.endsWith("BASE_URL") ? `https://${value}.example.com` : value,
    ]),
  );
  return {
    TRUSTFLOW_ENVIRONMENT: environment,
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "https://callbacks.example.com",
    ...(Object.fromEntries(keys) as Record<string, string>),
    ...changes,
  };
}

function problemsOf(env: Record<string, string>): string[] {
  process.env = env;
  try {
    loadWithAccounts();
    return [];
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
}

test("http is refused for an account, in the sandbox it is not", () => {
  const http = { [`${account}__EVI_POST__BASE_URL`]: "http://provider.example.com" };
  for (const environment of ["production", "preproduction"])
    expect(problemsOf(configured(environment, http))).toEqual([
      `accounts.default.evi-post.baseUrl: must be https in ${environment}: it carries credentials`,
    ]);
  expect(problemsOf(configured("sandbox", http))).toEqual([]);
  expect(problemsOf(configured("production"))).toEqual([]);
});

test("a webhook tells of processes: http is refused outside the sandbox, also without an environment", () => {
  const hook = (url: string) => ({
    TRUSTFLOW_WEBHOOKS__BACK_OFFICE__URL: url,
    TRUSTFLOW_WEBHOOKS__BACK_OFFICE__SECRET: "s",
  });
  const http = hook("http://receiver.example.com");
  const refused =
    "webhooks.back-office.url: must be https outside the sandbox: it tells of processes";
  expect(problemsOf(configured("production", http))).toEqual([refused]);
  expect(problemsOf({ ...hook("http://127.0.0.1:1") })).toEqual([refused]);
  expect(problemsOf(configured("sandbox", http))).toEqual([]);
  expect(problemsOf(configured("production", hook("https://receiver.example.com/a?b=c")))).toEqual(
    [],
  );
  expect(problemsOf(configured("sandbox", hook("https://u:p@receiver.example.com")))).toEqual([
    "webhooks.back-office.url: must not contain a user name or password",
  ]);
});

test("every base URL of the schema is among those that are judged", () => {
  process.env = configured("production");
  const found = baseUrls(loadWithAccounts().accounts).map(({ key }) =>
    key.replace("accounts.default.", ""),
  );
  const ofSchema = Object.entries(
    ConfigWithAccounts.shape.accounts.unwrap().valueType.shape,
  ).flatMap(([provider, section]) =>
    Object.keys(section.unwrap().shape).flatMap((key) =>
      /url/i.test(key) ? [`${provider}.${key}`] : [],
    ),
  );
  expect(found.toSorted()).toEqual(ofSchema.toSorted());
});

test("a callback address is a capability: http is refused too", () => {
  const http = { TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://callbacks.example.com" };
  for (const environment of ["production", "preproduction"])
    expect(problemsOf(configured(environment, http))).toEqual([
      `callbacks.publicUrl: must be https in ${environment}: a callback address is a capability`,
    ]);
  expect(problemsOf(configured("sandbox", http))).toEqual([]);
});

test("`dev` beside a test environment: its own sandbox and receiver on this machine may be http", () => {
  const local = {
    TRUSTFLOW_SANDBOX__URL: "http://127.0.0.1:8090",
    [`${account}__EVI_POST__BASE_URL`]: "http://127.0.0.1:8090",
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://127.0.0.1:8080",
  };
  expect(problemsOf(configured("preproduction", local))).toEqual([]);
  expect(problemsOf(configured("production", local))).toHaveLength(2);
  const refused = (url: string, sandbox = "http://127.0.0.1:8090") =>
    problemsOf(
      configured("preproduction", {
        TRUSTFLOW_SANDBOX__URL: sandbox,
        [`${account}__EVI_POST__BASE_URL`]: url,
      }),
    ).length === 1;
  expect(refused("http://127.0.0.1:8091")).toBe(true);
  expect(refused("http://sandbox:8090", "http://sandbox:8090")).toBe(true);
  expect(refused("http://127.0.0.1.example.com", "http://127.0.0.1.example.com")).toBe(true);
});

test("the doctor names the key, and says that it examined nothing else", async () => {
  const env = configured("production", {
    [`${account}__EVI_POST__BASE_URL`]: "http://post.example.com",
  });
  const doctor = await commandLine(["doctor", "--json"], { env });
  expect(doctor.code).toBe(4);
  const { checks } = JSON.parse(doctor.stdout);
  expect(checks.slice(1)).toEqual([
    expect.objectContaining({
      finding: "configurationInvalid",
      detail: expect.stringContaining("accounts.default.evi-post.baseUrl"),
    }),
    {
      check: "all else",
      state: "skip",
      detail: "not examined: cannot read the configuration",
    },
  ]);
});

const remote = {
  TEMPORAL_CONFIG_FILE: none,
  TEMPORAL_ADDRESS: "temporal.example.com:7233",
  DATABASE_URL: "postgres://u:hunter2@db.example.com/trustflow",
  TRUSTFLOW_KEYS__CODEC: generateKeyRing("k1"),
};
const refusal = (setting: string, host: string) =>
  `${setting}: ${host} must be reached by TLS with its certificate checked, or clearText.hosts must name it`;

test("a remote Temporal is reached by TLS only: without an environment too, but not in the sandbox or if it is named", async () => {
  const ofCommand = async (env: Record<string, string>) => {
    process.env = env;
    return (await temporalSettings().catch((error: ConfigurationError) => error)) as unknown;
  };
  const ofClient = async (env: Record<string, string>) => {
    process.env = env;
    return Trustflow.connect().catch((error: Error) => error);
  };
  const refused = { problems: [refusal("TEMPORAL_ADDRESS", "temporal.example.com")] };
  for (const environment of [{}, { TRUSTFLOW_ENVIRONMENT: "production" }]) {
    expect(await ofCommand({ ...remote, ...environment })).toMatchObject(refused);
    expect(await ofClient({ ...remote, ...environment })).toMatchObject(refused);
  }
  const allowed = [
    { TRUSTFLOW_ENVIRONMENT: "sandbox" },
    { TRUSTFLOW_CLEAR_TEXT__HOSTS: "postgres,temporal.example.com" },
    { TEMPORAL_TLS: "true" },
    { TEMPORAL_ADDRESS: "[::1]:7233" },
    { TEMPORAL_ADDRESS: "localhost" },
  ];
  for (const env of allowed)
    expect(await ofCommand({ ...remote, ...env })).toHaveProperty("namespace", "default");
  const other = { ...remote, TRUSTFLOW_CLEAR_TEXT__HOSTS: "example.com" };
  expect(await ofCommand(other)).toMatchObject(refused);
});

test("a remote database is reached by TLS with its certificate checked, or it is named", async () => {
  const opened = async (search: string, env: Record<string, string> = {}) => {
    process.env = { ...remote, ...env, DATABASE_URL: `${remote.DATABASE_URL}${search}` };
    const config = loadWithAccounts();
    const pool = await openPool(config, "test").catch((error: ConfigurationError) => error);
    if (!("problems" in pool)) return pool.end().then(() => []);
    return pool.problems;
  };
  const refused = [refusal("database.url", "db.example.com")];
  for (const search of ["", "?sslmode=disable", "?sslmode=no-verify", "?ssl=0"])
    expect(await opened(search)).toEqual(refused);
  for (const search of ["?sslmode=verify-full", "?ssl=true"])
    expect(await opened(search)).toEqual([]);
  expect(await opened("", { TRUSTFLOW_ENVIRONMENT: "preproduction" })).toEqual(refused);
  expect(await opened("", { TRUSTFLOW_ENVIRONMENT: "sandbox" })).toEqual([]);
  expect(await opened("", { TRUSTFLOW_CLEAR_TEXT__HOSTS: "db.example.com" })).toEqual([]);
  expect(await opened("?host=/var/run/postgresql")).toEqual([]);
  const [unreadable] = await opened("?sslmode=verify-full&sslrootcert=/nowhere/hunter2");
  expect(unreadable).toBe(
    "database.url has an unknown setting, or names a file that cannot be read",
  );
});

test("a role, and the doctor, name the setting and not the password", async () => {
  const { code, stderr } = await commandLine(["callbacks", "list"], { env: remote });
  expect([code, stderr]).toEqual([
    4,
    expect.stringContaining(refusal("database.url", "db.example.com")),
  ]);
  expect(stderr).not.toContain("hunter2");
  const { stdout } = await commandLine(["doctor", "--json"], { env: remote });
  const { checks } = JSON.parse(stdout) as { checks: Checked[] };
  const refused = checks.filter(({ finding }) => finding === "configurationInvalid");
  expect(refused.map(({ detail }) => detail)).toEqual([
    expect.stringContaining(refusal("database.url", "db.example.com")),
    expect.stringContaining(refusal("TEMPORAL_ADDRESS", "temporal.example.com")),
  ]);
});

test("an API key goes to Temporal by TLS only", async () => {
  const off = { TEMPORAL_CONFIG_FILE: none, TEMPORAL_TLS: "false" };
  process.env = { ...off, TEMPORAL_API_KEY: "hunter2" };
  expect(connectionOptions).toThrow(ConfigurationError);
  process.env = { ...off, TEMPORAL_GRPC_META_AUTHORIZATION: "Bearer hunter2" };
  expect(connectionOptions).toThrow(ConfigurationError);
  process.env = { TEMPORAL_CONFIG_FILE: none, TEMPORAL_API_KEY: "hunter2" };
  expect(connectionOptions().options.tls).toBe(true);
  process.env = off;
  expect(connectionOptions().options.tls).toBe(false);
  const env = { ...off, TEMPORAL_API_KEY: "hunter2" };
  const { code, stderr } = await commandLine(["list"], { env });
  expect(code).toBe(4);
  expect(stderr).toContain("TEMPORAL_API_KEY");
  expect(stderr).not.toContain("hunter2");
});
