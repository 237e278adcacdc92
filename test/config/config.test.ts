import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import {
  ConfigurationError,
  loadConfig,
  required,
  requireSecrets,
  ringOf,
} from "../../src/config/config.js";
import { loadWithAccounts } from "../../src/providers/accounts.js";

const before = process.env;
afterEach(() => {
  process.env = before;
});

test("a key ring that cannot be read is named, and not shown", () => {
  process.env = { TRUSTFLOW_KEYS__JOURNAL: `${generateKeyRing()},k2:c2hvcnQ=` };
  const read = () => ringOf(loadWithAccounts(), "journal");
  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(/^Configuration: keys\.journal: key ring, entry 2/);
  expect(read).not.toThrow("c2hvcnQ=");
  expect(() => ringOf(loadWithAccounts(), "codec")).toThrow("keys.codec is required");
});

test("a variable of our prefix that nothing reads is an unknown key", () => {
  process.env = { TRUSTFLOW_STATE: "/tmp" };
  expect(loadWithAccounts).toThrow("unknown key: state");
});

test.each([
  [
    "TRUSTFLOW_SEND_POSTAL__POLL_INTERVL_SECONDS",
    "sendPostal: unknown key: pollIntervlSeconds (TRUSTFLOW_SEND_POSTAL__POLL_INTERVL_SECONDS); did you mean pollIntervalSeconds (known: affidavitWindowSeconds,",
  ],
  [
    "TRUSTFLOW_SENDPOSTAL__POLL_INTERVAL_SECONDS",
    "(top): unknown key: sendpostal (TRUSTFLOW_SENDPOSTAL__POLL_INTERVAL_SECONDS); did you mean sendPostal (known: environment,",
  ],
  [
    "TRUSTFLOW_ACCOUNTS__DEFAULT__EVIPOST__USERNAME",
    "accounts.default: unknown key: evipost (TRUSTFLOW_ACCOUNTS__DEFAULT__EVIPOST__USERNAME); did you mean evi-post (known:",
  ],
])("a misspelt %s is named with the key that it may have been meant to be", (name, message) => {
  process.env = { [name]: "5" };
  expect(loadWithAccounts).toThrow(message);
});

test("a misspelt key of the file is named with its section and the known ones", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-config-"));
  const file = join(folder, "trustflow.toml");
  writeFileSync(file, "[worker]\ncachedProceses = 5\nwages = 7\n");
  process.env = { TRUSTFLOW_CONFIG: file };
  expect(loadWithAccounts).toThrow(
    "worker: unknown key: cachedProceses; did you mean cachedProcesses (",
  );
  expect(loadWithAccounts).toThrow("; wages; known: healthHost,");
  rmSync(folder, { recursive: true });
});

test("an application reads no account, valid or not, and all other keys", () => {
  process.env = {
    TRUSTFLOW_ENVIRONMENT: "production",
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVIPOST__BASE_URL: "http://post.example",
  };
  expect(loadWithAccounts).toThrow("accounts.default: unknown key: evipost");
  expect(loadConfig()).toMatchObject({ environment: "production", accounts: undefined });
  process.env["TRUSTFLOW_WORKER__WAGES"] = "7";
  expect(loadConfig).toThrow("worker: unknown key: wages");
});

test("a secret that the file names by a variable comes from the environment that was given", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-config-"));
  const file = join(folder, "trustflow.toml");
  writeFileSync(file, '[keys]\njournal = { env = "RING" }\n');
  process.env = { RING: "not this one" };
  const config = loadConfig({ TRUSTFLOW_CONFIG: file, RING: generateKeyRing("given") });
  expect(ringOf(config, "journal").all).toMatchObject([{ id: "given" }]);
  rmSync(folder, { recursive: true });
});

const oneShot = { BASE_URL: "https://signature.example", TOKEN: "t" };
const wallet = { BASE_URL: "https://wallet.example", API_TOKEN: "t" };
const certificate = {
  BASE_URL: "https://ca.example",
  USERNAME: "u",
  PASSWORD: "p",
  LRA_ID: "lra-1",
  PKCS12_FILE: "client.p12",
};
const post = { BASE_URL: "https://post.example/prefix/", USERNAME: "u", PASSWORD: "p" };
const messages = { ...post, API_KEY: "k" };
const video = { BASE_URL: "https://calls.example", API_KEY: "k" };
const envelope = {
  CA_BASE_URL: "https://ca.example",
  ESIGN_BASE_URL: "https://sign.example",
  API_TOKEN: "t",
  VENDOR: "ACME",
  CERTIFICATE_FILE: "client.pem",
  KEY_FILE: "key.pem",
};

function accountOf(provider: string, keys: Record<string, string>) {
  process.env = Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [
      `TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__${key}`,
      value,
    ]),
  );
  return () => loadWithAccounts().accounts["default"];
}

test.each([
  ["ONE_SHOT_SIGNATURE", oneShot, { PATHS__RETRIEVE: "none" }],
  ["ONE_SHOT_SIGNATURE", oneShot, { MEMBERS__STATE: "estado,status", WORDS__SIGNED: "FIRMADO" }],
  ["ONE_SHOT_SIGNATURE", oneShot, { PATHS__RETRIEVE: "/v2?of={request_pk}" }],
  ["DISPOSABLE_CERTIFICATE", certificate, {}],
  ["ENVELOPE_SIGNATURE", envelope, {}],
  ["CREDENTIAL_WALLET", wallet, {}],
  ["CREDENTIAL_WALLET", wallet, { PATHS__CREATE_OPERATOR: "/user/api/v1/user/create/" }],
  ["CREDENTIAL_WALLET", wallet, { TOKEN_HEADER: "X-Api-Token", TOKEN_PREFIX: "" }],
  ["EVI_POST", post, { USERNAME: "ada@acme" }],
  ["DISPOSABLE_CERTIFICATE", certificate, { LRA_ID: "..a" }],
  ["MESSAGING_GATEWAY", messages, {}],
  ["VIDEO_IDENTIFICATION", video, {}],
  ["VIDEO_IDENTIFICATION", video, { CONFERENCE_PARAMETER: "none", POINTERS__CONFERENCE: "none" }],
  [
    "VIDEO_IDENTIFICATION",
    video,
    { POINTERS__STATE: "/call/0/state", WORDS__CLOSED: "ENDED,OVER" },
  ],
])("an account of %s, %j with %j, is taken", (provider, keys, others) => {
  expect(accountOf(provider, { ...keys, ...others })).not.toThrow();
});

test.each([
  // The token would go to the host "signature.exampledocument".
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__RETRIEVE", "document/{request_pk}", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__CREATE_TOKEN", "tokens", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "WORDS__FAILED", "failed,Signed", "is already used for signed"],
  ["ONE_SHOT_SIGNATURE", oneShot, "MEMBERS__NAME", "STATE", "is already used for state"],
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__RETRIEVE", "/document", "contain {request_pk}"],
  ["ONE_SHOT_SIGNATURE", oneShot, "WEBHOOK_POINTER", "request_pk", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "TOKEN_HEADER", "X Token:", "the name of a header"],
  ["CREDENTIAL_WALLET", wallet, "TOKEN_HEADER", "X Token:", "the name of a header"],
  // One link would be sent over the other.
  ["CREDENTIAL_WALLET", wallet, "SENT__OPERATORS", "verificationTemplates", "have different names"],
  // It would name another host, or a query.
  ["CREDENTIAL_WALLET", wallet, "PATHS__CREATE_OPERATOR", "//other.example/user", "be a path"],
  ["CREDENTIAL_WALLET", wallet, "PATHS__CREATE_OPERATOR", "/user?create=1", "be a path"],
  ["VIDEO_IDENTIFICATION", video, "POINTERS__STATE", "state", "begin with a slash, or be"],
  ["VIDEO_IDENTIFICATION", video, "CLOSE_EVENT_POINTER", "none", "begin with a slash"],
  ["VIDEO_IDENTIFICATION", video, "WORDS__REJECTED", "no,Closed", "is already used for closed"],
  // Without TLS no client certificate is shown, and the password travels in clear (P1 §5.1, §5.5).
  ["DISPOSABLE_CERTIFICATE", certificate, "BASE_URL", "http://ca.example", "URL"],
  [
    "DISPOSABLE_CERTIFICATE",
    certificate,
    "BASE_URL",
    "ca.example",
    "baseUrl: must be an https URL",
  ],
  ["ENVELOPE_SIGNATURE", envelope, "CA_BASE_URL", "http://ca.example", "URL"],
  ["DISPOSABLE_CERTIFICATE", certificate, "CERTIFICATE_FILE", "client.pem", "set certificateFile"],
  ["ENVELOPE_SIGNATURE", envelope, "PKCS12_FILE", "client.p12", "set certificateFile"],
  // The path would become a part of the query; the password would stand in the clear.
  ["EVI_POST", post, "BASE_URL", "https://post.example?a=1", "baseUrl: must have no query"],
  [
    "MESSAGING_GATEWAY",
    messages,
    "BASE_URL",
    "https://m.example/#a",
    "baseUrl: must have no query",
  ],
  [
    "ONE_SHOT_SIGNATURE",
    oneShot,
    "BASE_URL",
    "https://u:p@s.example",
    "baseUrl: must not contain a user",
  ],
  [
    "DISPOSABLE_CERTIFICATE",
    certificate,
    "BASE_URL",
    "https://u@c.example",
    "baseUrl: must not contain a user",
  ],
  ["ENVELOPE_SIGNATURE", envelope, "CA_BASE_URL", "https://ca.example?", "caBaseUrl: must have no"],
  ["ENVELOPE_SIGNATURE", envelope, "ESIGN_BASE_URL", "https://u@s.example", "esignBaseUrl: must"],
  // Whatever follows the colon would be read as a part of the password.
  ["EVI_POST", post, "USERNAME", "a:b", "username: must have no colon"],
  ["DISPOSABLE_CERTIFICATE", certificate, "USERNAME", "a:b", "username: must have no colon"],
  ["MESSAGING_GATEWAY", messages, "USERNAME", "a:b", "username: must have no colon"],
  ["DISPOSABLE_CERTIFICATE", certificate, "LRA_ID", ".", "lraId: must be one segment"],
  ["DISPOSABLE_CERTIFICATE", certificate, "LRA_ID", "..", "lraId: must be one segment"],
  ["DISPOSABLE_CERTIFICATE", certificate, "LRA_ID", "a/b", "lraId: must be one segment"],
])("an account of %s, %j, whose %s is %j, is refused", (provider, keys, key, value, why) => {
  const read = accountOf(provider, { ...keys, [key]: value });
  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(why);
});

test("an account's secrets in files are read again; the last one counts while a file is empty or gone", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-test-"));
  const [path, toml] = [join(folder, "secret"), join(folder, "trustflow.toml")];
  const secrets = ["password", "passphrase"].map((key) => `${key} = { file = "${path}" }`);
  writeFileSync(path, "first\n");
  writeFileSync(toml, ["[accounts.default.disposable-certificate]", ...secrets].join("\n"));
  const read = accountOf("DISPOSABLE_CERTIFICATE", { ...certificate, PASSWORD: "" });
  process.env["TRUSTFLOW_CONFIG"] = toml;
  const { password, passphrase } = read()!["disposable-certificate"]!;
  const revealed = () => [password.reveal(), passphrase?.reveal()];
  using warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  expect(revealed()).toEqual(["first", "first"]);
  for (const [content, expected] of [
    ["second\n", "second"],
    ["", "second"],
    ["", "second"],
    ["third\n", "third"],
  ] as const) {
    writeFileSync(path, content);
    expect(revealed()).toEqual([expected, expected]);
  }
  expect(warned.mock.calls).toEqual(
    ["password", "passphrase"].map((key) => [
      expect.stringContaining("the file is empty"),
      { type: "SecretFileUnusable", code: `accounts.default.disposable-certificate.${key}` },
    ]),
  );
  rmSync(path);
  expect(revealed()).toEqual(["third", "third"]);
  const { password: another } = read()!["disposable-certificate"]!;
  expect(() => another.reveal()).toThrow("password: the file does not exist");
  rmSync(folder, { recursive: true });
});

test("metrics are served on an address, or on a port of this machine alone", () => {
  const read = (given: string) => {
    process.env = { TRUSTFLOW_RELAY__METRICS_ADDRESS: given };
    return loadWithAccounts().relay.metricsAddress;
  };
  expect(read("9464")).toBe("127.0.0.1:9464");
  expect(read("0.0.0.0:9464")).toBe("0.0.0.0:9464");
  expect(read("[::1]:9464")).toBe("[::1]:9464");
  for (const wrong of ["localhost", "127.0.0.1:", "http://127.0.0.1:9464"])
    expect(() => read(wrong)).toThrow("relay.metricsAddress: must be host:port");
});

/** As several share it: each secret stands elsewhere, and not all of them are here. */
const shared = `
database.url = { env = "OURS_DATABASE" }
codecServer.token = { file = "/nowhere/token" }
[keys]
codec = { env = "OURS_CODEC" }
journal = { env = "OURS_JOURNAL" }
[accounts.default.messaging-gateway]
baseUrl = "https://messages.example"
username = "u"
password = { env = "OURS_PASSWORD" }
[accounts.default.evi-post]
baseUrl = "https://post.example"
username = "u"
password = { file = "/nowhere/password" }
`;

test("a secret's file is named by its variable and __FILE, and either that or the secret itself is set", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-test-"));
  try {
    const path = join(folder, "password");
    writeFileSync(path, "of the file\n");
    const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__PASSWORD";
    process.env = {
      [`${name}__FILE`]: path,
      TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL: "https://post.example.com",
      TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__USERNAME: "acme",
      TRUSTFLOW_DATABASE__PASSWORD__FILE: "/nowhere/password",
    };
    const { accounts, database } = loadWithAccounts();
    expect(accounts["default"]?.["evi-post"]?.password.reveal()).toBe("of the file");
    expect(() => database.password?.reveal()).toThrow("database.password: the file does not exist");
    process.env[name] = "hunter2";
    expect(loadWithAccounts).toThrow(`set either ${name} or ${name}__FILE`);
    delete process.env[name];
    process.env["TRUSTFLOW_WORKER__HEALTH_PORT__FILE"] = path;
    expect(loadWithAccounts).toThrow("worker.healthPort");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("a configuration that several share", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "trustflow-test-"));
    const path = join(folder, "trustflow.toml");
    writeFileSync(path, shared);
    process.env = { TRUSTFLOW_CONFIG: path, OURS_CODEC: generateKeyRing() };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is read without the secrets of others; one's own is demanded when it is used", () => {
    const config = loadWithAccounts();
    expect(ringOf(config, "codec").active.id).toBe("k1");
    expect(() => ringOf(config, "journal")).toThrow(
      "Configuration: keys.journal: the environment variable OURS_JOURNAL is not set",
    );
    expect(() => ringOf(config, "callback")).toThrow("keys.callback is required");
    const url = required(config.database.url, "database.url");
    expect(() => url.reveal()).toThrow("database.url: the environment variable OURS_DATABASE");
    expect(() => config.codecServer.token?.reveal()).toThrow("token: the file does not exist");
  });

  test("has all the secrets of its accounts, or each that is missing is named at once", () => {
    const { accounts } = loadWithAccounts();
    const read = () => requireSecrets(accounts);
    expect(read).toThrow(ConfigurationError);
    const place = "accounts.default";
    for (const problem of [
      `${place}.messaging-gateway.password: the environment variable OURS_PASSWORD is not set`,
      `${place}.messaging-gateway.apiKey is required (environment: TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__API_KEY)`,
      `${place}.evi-post.password: the file does not exist`,
    ])
      expect(read).toThrow(problem);
  });

  test("never contains a secret, for any reader", () => {
    writeFileSync(
      join(folder, "trustflow.toml"),
      shared.replace('{ env = "OURS_JOURNAL" }', '"k1:a"'),
    );
    expect(loadWithAccounts).toThrow("keys.journal: must be { env");
    expect(loadWithAccounts).not.toThrow("k1:a");
  });
});

test("what is missing is said to be required, with its variable", () => {
  const { BASE_URL: _, USERNAME: __, ...rest } = post;
  const account = "accounts.default.evi-post";
  const variable = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST";
  expect(accountOf("EVI_POST", { ...rest, TIMEOUT_SECONDS: "soon" })).toThrow(
    `Configuration: ${account}.baseUrl is required (environment: ${variable}__BASE_URL); ` +
      `${account}.username is required (environment: ${variable}__USERNAME); ` +
      `${account}.timeoutSeconds: must be a number`,
  );
});

test("a secret's file of the environment goes before the variable that trustflow.toml names", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-config-"));
  const [toml, ring] = [join(folder, "trustflow.toml"), join(folder, "ring")];
  writeFileSync(toml, '[keys]\ncodec = { env = "OLD_CODEC" }\n');
  writeFileSync(ring, "new:ring\n");
  const { keys } = loadConfig({
    TRUSTFLOW_CONFIG: toml,
    OLD_CODEC: "old:ring",
    TRUSTFLOW_KEYS__CODEC__FILE: ring,
  });
  expect(keys.codec?.reveal()).toBe("new:ring");
  rmSync(folder, { recursive: true });
});
