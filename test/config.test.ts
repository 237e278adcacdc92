import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { generateKeyRing } from "../src/crypto/key-ring.js";
import { ConfigurationError, loadConfig, ringOf } from "../src/config.js";

const before = process.env;
afterEach(() => {
  process.env = before;
});

test("a key ring that cannot be read is named, and not shown", () => {
  process.env = { TRUSTFLOW_KEYS__JOURNAL: `${generateKeyRing()},k2:c2hvcnQ=` };
  const read = () => ringOf(loadConfig(), "journal");
  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(/^Configuration: keys\.journal: key ring, entry 2/);
  expect(read).not.toThrow("c2hvcnQ=");
  expect(() => ringOf(loadConfig(), "codec")).toThrow("keys.codec is required");
});

test("a variable of our prefix that nothing reads is an unknown key", () => {
  process.env = { TRUSTFLOW_STATE: "/tmp" };
  expect(loadConfig).toThrow("unknown key: state");
});

const oneShot = { BASE_URL: "https://signature.example", TOKEN: "t" };
const certificate = {
  BASE_URL: "https://ca.example",
  USERNAME: "u",
  PASSWORD: "p",
  LRA_ID: "lra-1",
  PKCS12_FILE: "client.p12",
};
const post = { BASE_URL: "https://post.example/prefix/", USERNAME: "u", PASSWORD: "p" };
const messages = { ...post, API_KEY: "k" };
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
  return () => loadConfig().accounts["default"];
}

test.each([
  ["ONE_SHOT_SIGNATURE", oneShot, { PATHS__RETRIEVE: "none" }],
  ["ONE_SHOT_SIGNATURE", oneShot, { PATHS__RETRIEVE: "/v2?of={request_pk}" }],
  ["DISPOSABLE_CERTIFICATE", certificate, {}],
  ["ENVELOPE_SIGNATURE", envelope, {}],
  ["EVI_POST", post, { USERNAME: "ada@acme" }],
  ["DISPOSABLE_CERTIFICATE", certificate, { LRA_ID: "..a" }],
  ["MESSAGING_GATEWAY", messages, {}],
])("an account of %s, %j with %j, is taken", (provider, keys, others) => {
  expect(accountOf(provider, { ...keys, ...others })).not.toThrow();
});

test.each([
  // The token would go to the host "signature.exampledocument".
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__RETRIEVE", "document/{request_pk}", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__CREATE_TOKEN", "tokens", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "PATHS__RETRIEVE", "/document", "place for {request_pk}"],
  ["ONE_SHOT_SIGNATURE", oneShot, "WEBHOOK_POINTER", "request_pk", "begin with a slash"],
  ["ONE_SHOT_SIGNATURE", oneShot, "TOKEN_HEADER", "X Token:", "the name of a header"],
  // Without TLS no client certificate is shown, and the password travels in clear (P1 §5.1, §5.5).
  ["DISPOSABLE_CERTIFICATE", certificate, "BASE_URL", "http://ca.example", "URL"],
  ["DISPOSABLE_CERTIFICATE", certificate, "BASE_URL", "ca.example", "baseUrl: Invalid URL"],
  ["ENVELOPE_SIGNATURE", envelope, "CA_BASE_URL", "http://ca.example", "URL"],
  ["DISPOSABLE_CERTIFICATE", certificate, "CERTIFICATE_FILE", "client.pem", "give certificateFile"],
  ["ENVELOPE_SIGNATURE", envelope, "PKCS12_FILE", "client.p12", "give certificateFile"],
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
    "baseUrl: must have no user",
  ],
  [
    "DISPOSABLE_CERTIFICATE",
    certificate,
    "BASE_URL",
    "https://u@c.example",
    "baseUrl: must have no",
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

test("a passphrase of a file is read again, as it is renewed with its certificate; a password is not", () => {
  const folder = mkdtempSync(join(tmpdir(), "trustflow-test-"));
  const [path, toml] = [join(folder, "secret"), join(folder, "trustflow.toml")];
  const secrets = ["password", "passphrase"].map((key) => `${key} = { file = "${path}" }`);
  writeFileSync(path, "first\n");
  writeFileSync(toml, ["[accounts.default.disposable-certificate]", ...secrets].join("\n"));
  const read = accountOf("DISPOSABLE_CERTIFICATE", { ...certificate, PASSWORD: "" });
  process.env["TRUSTFLOW_CONFIG"] = toml;
  const { password, passphrase } = read()!["disposable-certificate"]!;
  expect(passphrase?.reveal()).toBe("first");
  writeFileSync(path, "second\n");
  expect([password.reveal(), passphrase?.reveal()]).toEqual(["first", "second"]);
  rmSync(path);
  expect(read).toThrow("passphrase: the file does not exist");
  rmSync(folder, { recursive: true });
});

test("metrics are served on an address, or on a port of this machine alone", () => {
  const read = (given: string) => {
    process.env = { TRUSTFLOW_RELAY__METRICS_ADDRESS: given };
    return loadConfig().relay.metricsAddress;
  };
  expect(read("9464")).toBe("127.0.0.1:9464");
  expect(read("0.0.0.0:9464")).toBe("0.0.0.0:9464");
  expect(read("[::1]:9464")).toBe("[::1]:9464");
  for (const wrong of ["localhost", "127.0.0.1:", "http://127.0.0.1:9464"])
    expect(() => read(wrong)).toThrow("relay.metricsAddress: must be host:port");
});
