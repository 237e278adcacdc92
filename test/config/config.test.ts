// What a configuration is, wherever its keys come from, and how each that is wrong or missing is named.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import {
  ConfigurationError,
  loadConfig,
  required,
  requireSecrets,
  ringOf,
} from "../../src/config/config.js";
import { configurationOf as read } from "../harness/configuration.js";
import { temporaryFolder } from "../harness/temporary.js";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("a key ring that cannot be read is named, and not shown", () => {
  const config = read({ TRUSTFLOW_KEYS__JOURNAL: `${generateKeyRing()},k2:c2hvcnQ=` });
  const ring = () => ringOf(config, "journal");
  expect(ring).toThrow(ConfigurationError);
  expect(ring).toThrow(/^Configuration: keys\.journal: key ring, entry 2/);
  expect(ring).not.toThrow("c2hvcnQ=");
  expect(() => ringOf(config, "codec")).toThrow(
    'keys.codec is required (environment: TRUSTFLOW_KEYS__CODEC). With "trustflow dev", source ".trustflow/client.env"',
  );
});

test.each([
  ["TRUSTFLOW_STATE", "unknown key: state"],
  ["TRUSTFLOW_SEND_POSTAL", "sendPostal: is a section, not a key (TRUSTFLOW_SEND_POSTAL)"],
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
])("an unknown %s is named with the key that it may have been meant to be", (name, message) => {
  expect(() => read({ [name]: "5" })).toThrow(message);
});

test("a misspelt key of the file is named with its section and the known ones", () => {
  const toml = written("trustflow.toml", "[worker]\ncachedProceses = 5\nwages = 7\n");
  expect(() => read({ TRUSTFLOW_CONFIG: toml })).toThrow(
    /worker: unknown key: cachedProceses; did you mean cachedProcesses \(.*; wages; known: healthHost,/,
  );
});

test("an application reads no account, valid or not, and all other keys", () => {
  const env = {
    TRUSTFLOW_ENVIRONMENT: "production",
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVIPOST__BASE_URL: "http://post.example",
  };
  expect(() => read(env)).toThrow("accounts.default: unknown key: evipost");
  expect(loadConfig(env)).toMatchObject({ environment: "production", accounts: undefined });
  expect(() => loadConfig({ ...env, TRUSTFLOW_WORKER__WAGES: "7" })).toThrow(
    "worker: unknown key: wages",
  );
});

test("a secret that the file names by a variable comes from the given environment, where no file of the environment goes before it", () => {
  const env = {
    TRUSTFLOW_CONFIG: written("trustflow.toml", '[keys]\njournal = { env = "RING" }\n'),
    RING: generateKeyRing("given"),
  };
  vi.stubEnv("RING", "not this one");
  expect(ringOf(loadConfig(env), "journal").all).toMatchObject([{ id: "given" }]);
  vi.unstubAllEnvs();
  const file = written("ring", "new:ring\n");
  const { keys } = loadConfig({ ...env, TRUSTFLOW_KEYS__JOURNAL__FILE: file });
  expect(keys.journal?.reveal()).toBe("new:ring");
});

/** The least that an account has, and the variables of one with these keys changed. */
const least = {
  ONE_SHOT_SIGNATURE: { BASE_URL: "https://signature.example", TOKEN: "t" },
  CREDENTIAL_WALLET: { BASE_URL: "https://wallet.example", API_TOKEN: "t" },
  DISPOSABLE_CERTIFICATE: {
    BASE_URL: "https://ca.example",
    USERNAME: "u",
    PASSWORD: "p",
    LRA_ID: "lra-1",
    PKCS12_FILE: "client.p12",
  },
  EVI_POST: { BASE_URL: "https://post.example/prefix/", USERNAME: "u", PASSWORD: "p" },
  VIDEO_IDENTIFICATION: { BASE_URL: "https://calls.example", API_KEY: "k" },
  ENVELOPE_SIGNATURE: {
    CA_BASE_URL: "https://ca.example",
    ESIGN_BASE_URL: "https://sign.example",
    API_TOKEN: "t",
    VENDOR: "ACME",
    CERTIFICATE_FILE: "client.pem",
    KEY_FILE: "key.pem",
  },
};
const accountOf = (provider: keyof typeof least, changes: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({ ...least[provider], ...changes }).map(([key, value]) => [
      `TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__${key}`,
      value,
    ]),
  );

test.each<[keyof typeof least, Record<string, string>]>([
  ["ONE_SHOT_SIGNATURE", { PATHS__RETRIEVE: "none" }],
  ["ONE_SHOT_SIGNATURE", { MEMBERS__STATE: "estado,status", WORDS__SIGNED: "FIRMADO" }],
  ["ONE_SHOT_SIGNATURE", { PATHS__RETRIEVE: "/v2?of={request_pk}" }],
  ["ENVELOPE_SIGNATURE", {}],
  ["CREDENTIAL_WALLET", { PATHS__CREATE_OPERATOR: "/user/api/v1/user/create/" }],
  ["CREDENTIAL_WALLET", { TOKEN_HEADER: "X-Api-Token", TOKEN_PREFIX: "" }],
  ["EVI_POST", { USERNAME: "ada@acme" }],
  ["DISPOSABLE_CERTIFICATE", { LRA_ID: "..a" }],
  ["VIDEO_IDENTIFICATION", { CONFERENCE_PARAMETER: "none", POINTERS__CONFERENCE: "none" }],
  ["VIDEO_IDENTIFICATION", { POINTERS__STATE: "/call/0/state", WORDS__CLOSED: "ENDED,OVER" }],
])("an account of %s with %j is taken", (provider, changes) => {
  expect(() => read(accountOf(provider, changes))).not.toThrow();
});

test.each<[keyof typeof least, string, string, why: string]>([
  // The token would go to the host "signature.exampledocument".
  ["ONE_SHOT_SIGNATURE", "PATHS__RETRIEVE", "document/{request_pk}", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", "PATHS__CREATE_TOKEN", "tokens", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", "WORDS__FAILED", "failed,Signed", "is already used for signed"],
  ["ONE_SHOT_SIGNATURE", "MEMBERS__NAME", "STATE", "is already used for state"],
  ["ONE_SHOT_SIGNATURE", "PATHS__RETRIEVE", "/document", "contain {request_pk}"],
  ["ONE_SHOT_SIGNATURE", "WEBHOOK_POINTER", "request_pk", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", "TOKEN_HEADER", "X Token:", "the name of a header"],
  ["CREDENTIAL_WALLET", "TOKEN_HEADER", "X Token:", "the name of a header"],
  // One link would be sent over the other.
  ["CREDENTIAL_WALLET", "SENT__OPERATORS", "verificationTemplates", "have different names"],
  // It would name another host, or a query.
  ["CREDENTIAL_WALLET", "PATHS__CREATE_OPERATOR", "//other.example/user", "be a path"],
  ["CREDENTIAL_WALLET", "PATHS__CREATE_OPERATOR", "/user?create=1", "be a path"],
  ["VIDEO_IDENTIFICATION", "POINTERS__STATE", "state", "begin with a slash, or be"],
  ["VIDEO_IDENTIFICATION", "CLOSE_EVENT_POINTER", "none", "begin with a slash"],
  ["VIDEO_IDENTIFICATION", "WORDS__REJECTED", "no,Closed", "is already used for closed"],
  // Without TLS no client certificate is shown, and the password travels in clear (P1 §5.1, §5.5).
  ["DISPOSABLE_CERTIFICATE", "BASE_URL", "http://ca.example", "must be an https URL"],
  ["DISPOSABLE_CERTIFICATE", "BASE_URL", "ca.example", "baseUrl: must be an https URL"],
  ["ENVELOPE_SIGNATURE", "CA_BASE_URL", "http://ca.example", "must be an https URL"],
  ["DISPOSABLE_CERTIFICATE", "CERTIFICATE_FILE", "client.pem", "set certificateFile"],
  ["ENVELOPE_SIGNATURE", "PKCS12_FILE", "client.p12", "set certificateFile"],
  // The path would become a part of the query; the password would stand in the clear.
  ["EVI_POST", "BASE_URL", "https://post.example?a=1", "baseUrl: must have no query"],
  ["EVI_POST", "BASE_URL", "https://post.example/#a", "baseUrl: must have no query"],
  ["ENVELOPE_SIGNATURE", "CA_BASE_URL", "https://ca.example?", "caBaseUrl: must have no query"],
  ["EVI_POST", "BASE_URL", "https://u:p@post.example", "baseUrl: must not contain a user"],
  ["EVI_POST", "BASE_URL", "https://u@post.example", "baseUrl: must not contain a user"],
  // Whatever follows the colon would be read as a part of the password.
  ["EVI_POST", "USERNAME", "a:b", "username: must have no colon"],
  ["DISPOSABLE_CERTIFICATE", "LRA_ID", ".", "lraId: must be one segment"],
  ["DISPOSABLE_CERTIFICATE", "LRA_ID", "..", "lraId: must be one segment"],
  ["DISPOSABLE_CERTIFICATE", "LRA_ID", "a/b", "lraId: must be one segment"],
])("an account of %s whose %s is %j is refused", (provider, key, value, why) => {
  const refused = () => read(accountOf(provider, { [key]: value }));
  expect(refused).toThrow(ConfigurationError);
  expect(refused).toThrow(why);
});

test("an account's secrets in files are read again; the last one counts while a file is empty or gone", () => {
  const path = written("secret", "first\n");
  const secrets = ["password", "passphrase"].map((key) => `${key} = { file = "${path}" }`);
  const toml = ["[accounts.default.disposable-certificate]", ...secrets].join("\n");
  const env = {
    ...accountOf("DISPOSABLE_CERTIFICATE", { PASSWORD: "" }),
    TRUSTFLOW_CONFIG: written("trustflow.toml", toml),
  };
  const account = () => read(env).accounts["default"]!["disposable-certificate"]!;
  const { password, passphrase } = account();
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
  expect(() => account().password.reveal()).toThrow("password: the file does not exist");
});

test.each([
  ["names a folder", () => folder, "cannot be read (EISDIR)"],
  ["does not exist", () => join(folder, "none.toml"), "none.toml does not exist"],
  ["is not TOML", () => written("trustflow.toml", "[\n="), "is not TOML (line"],
])("a TRUSTFLOW_CONFIG that %s is refused for that reason", (_, path, why) => {
  expect(() => read({ TRUSTFLOW_CONFIG: path() })).toThrow(why);
});

test("an empty TRUSTFLOW_CONFIG counts as not set", () => {
  expect(() => read({ TRUSTFLOW_CONFIG: "" })).not.toThrow();
});

test("a list in a variable may have spaces", () => {
  const { clearText, codecServer } = read({
    TRUSTFLOW_CLEAR_TEXT__HOSTS: "postgres, temporal",
    TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: " https://a.example ,, https://b.example\n",
  });
  expect(clearText.hosts).toEqual(["postgres", "temporal"]);
  expect(codecServer.corsOrigins).toEqual(["https://a.example", "https://b.example"]);
});

test.each([
  // The path of a callback would become a part of the query.
  ["TRUSTFLOW_CALLBACKS__PUBLIC_URL", "https://trust.example?a", "must have no query"],
  ["TRUSTFLOW_CALLBACKS__PUBLIC_URL", "https://u:p@trust.example", "must not contain a user"],
  ["TRUSTFLOW_WORKER__HEALTH_PORT", "65536", "worker.healthPort: "],
  ["TRUSTFLOW_RECEIVER__PORT", "65536", "receiver.port: "],
])("%s is refused as %s", (name, value, why) => {
  expect(() => read({ [name]: value })).toThrow(why);
});

test("metrics are served on an address, or on a port of this machine alone", () => {
  const addressOf = (given: string) =>
    read({ TRUSTFLOW_RELAY__METRICS_ADDRESS: given }).relay.metricsAddress;
  expect(addressOf("9464")).toBe("127.0.0.1:9464");
  expect(addressOf("0.0.0.0:9464")).toBe("0.0.0.0:9464");
  expect(addressOf("[::1]:9464")).toBe("[::1]:9464");
  for (const wrong of ["localhost", "127.0.0.1:", "127.0.0.1:65536", "http://127.0.0.1:9464"])
    expect(() => addressOf(wrong)).toThrow("relay.metricsAddress: must be host:port");
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
  const file = written("password", "of the file\n");
  const env = accountOf("EVI_POST", { PASSWORD: "", PASSWORD__FILE: file });
  const { accounts, database } = read({
    ...env,
    TRUSTFLOW_DATABASE__PASSWORD__FILE: "/nowhere/password",
  });
  expect(accounts["default"]?.["evi-post"]?.password.reveal()).toBe("of the file");
  expect(() => database.password?.reveal()).toThrow("database.password: the file does not exist");
  const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__PASSWORD";
  expect(() => read({ ...env, [name]: "hunter2" })).toThrow(`set either ${name} or ${name}__FILE`);
  expect(() => read({ ...env, TRUSTFLOW_WORKER__HEALTH_PORT__FILE: file })).toThrow(
    "worker.healthPort",
  );
});

describe("a configuration that several share", () => {
  const readShared = (toml = shared) =>
    read({ TRUSTFLOW_CONFIG: written("trustflow.toml", toml), OURS_CODEC: generateKeyRing() });

  test("is read without the secrets of others; one's own is demanded when it is used", () => {
    const config = readShared();
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
    const { accounts } = readShared();
    const demanded = () => requireSecrets(accounts);
    expect(demanded).toThrow(ConfigurationError);
    const place = "accounts.default";
    for (const problem of [
      `${place}.messaging-gateway.password: the environment variable OURS_PASSWORD is not set`,
      `${place}.messaging-gateway.apiKey is required (environment: TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__API_KEY)`,
      `${place}.evi-post.password: the file does not exist`,
    ])
      expect(demanded).toThrow(problem);
  });

  test("never contains a secret, for any reader", () => {
    const inClear = () => readShared(shared.replace('{ env = "OURS_JOURNAL" }', '"k1:a"'));
    expect(inClear).toThrow("keys.journal: must be { env");
    expect(inClear).not.toThrow("k1:a");
  });
});

test("what is missing is said to be required, with its variable", () => {
  const account = "accounts.default.evi-post";
  const variable = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST";
  const env = accountOf("EVI_POST", { BASE_URL: "", USERNAME: "", TIMEOUT_SECONDS: "soon" });
  expect(() => read(env)).toThrow(
    `Configuration: ${account}.baseUrl is required (environment: ${variable}__BASE_URL); ` +
      `${account}.username is required (environment: ${variable}__USERNAME); ` +
      `${account}.timeoutSeconds: must be a number`,
  );
});
