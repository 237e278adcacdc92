// The configured accounts as each client takes them. Of a client certificate whose files cannot be used it is told which
// account's it is, and no path (P1 §5.1, §5.5).
import { PassThrough } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { accountsOf } from "../../src/providers/accounts.js";
import { sandboxAccount } from "../../packages/dev/src/stack/sandbox-accounts.js";
import { providerNames } from "../../src/providers/registry.js";
import { redactingLogger } from "../../src/temporal/logging.js";
import { configurationOf } from "../harness/configuration.js";
import { Files, authority, certificates } from "./http/mutual-tls.js";

const files = new Files();
afterAll(() => files.remove());

test("an account that keeps using its previous certificate says so, by its name and a code", () => {
  const { cert, key } = certificates.good;
  files.put("ca.pem", authority.cert);
  files.put("client.pem", cert);
  files.put("client-key.pem", key);
  const url = "https://localhost";
  const lines = new PassThrough();
  const logger = redactingLogger("WARN", lines);
  const account = sandboxAccount("office", { url, tlsUrl: url, pkiDirectory: files.folder });
  const config = configurationOf(account);
  const warn = (about: object) => logger.warn("kept", { ...about });
  const certificateService = accountsOf(config, "disposable-certificate", warn)["office"];
  const envelopes = accountsOf(config, "envelope-signature", warn)["office"];
  const both = [certificateService?.tls, envelopes?.ca.tls];
  const shown = both.map((tls) => tls?.identity());
  files.put("client-key.pem", certificates.other.key);
  expect(both.map((tls) => tls?.identity())).toEqual(shown);
  const told = String(lines.read()).trim().split("\n");
  const code = "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
  expect(told.map((line): unknown => JSON.parse(line))).toMatchObject([
    { account: "office", provider: "disposable-certificate", code },
    { account: "office", provider: "envelope-signature", code },
  ]);
  expect(told.join()).not.toContain(files.folder);
});

/** Rows of the database are found by these digests (docs/decisions/0017). */
test("the digest of what a look-up depends on stays as it was released", () => {
  const config = configurationOf({
    TRUSTFLOW_ACCOUNTS__OFFICE__EVI_POST__BASE_URL: "https://post.example",
    TRUSTFLOW_ACCOUNTS__OFFICE__EVI_POST__USERNAME: "office",
    TRUSTFLOW_ACCOUNTS__OFFICE__EVI_NOTICE__BASE_URL: "https://notice.example",
    TRUSTFLOW_ACCOUNTS__OFFICE__EVI_NOTICE__USERNAME: "office",
    TRUSTFLOW_ACCOUNTS__OFFICE__ONE_SHOT_SIGNATURE__BASE_URL: "https://sign.example",
    TRUSTFLOW_ACCOUNTS__OTHER__ONE_SHOT_SIGNATURE__BASE_URL: "https://sign.example",
    TRUSTFLOW_ACCOUNTS__OTHER__ONE_SHOT_SIGNATURE__PATHS__RETRIEVE: "none",
  });
  const digests = [
    ...Object.values(accountsOf(config, "evi-post")),
    ...Object.values(accountsOf(config, "evi-notice")),
    ...Object.values(accountsOf(config, "one-shot-signature")),
  ].map(({ name, lookUpConfiguration }) => [name, lookUpConfiguration]);
  expect(digests).toEqual([
    ["office", "419df4e8aac50bcf51a4cb512bf1e5970117231ac4ae7b1a0b064057abc90448"],
    ["office", "14dc2d2ce179f9d4011bd36aef6ffa9c92e93140d1fc4fd31ae6ce930afe2307"],
    ["office", "9684a6488cc7d0d9efffe930a5c74637f86b0b0140df47a4bd44d8d2c817665d"],
    ["other", "efb8ddd2ed48ce7010b1a8dae2f561fc1b901566b3c8712c33020ad95f5303b8"],
  ]);
});

test("an account of each provider is what its keys say, under the provider's own names", () => {
  const folder = files.folder;
  const sandbox = {
    url: "http://127.0.0.1:1",
    tlsUrl: "https://127.0.0.1:2",
    pkiDirectory: folder,
  };
  const config = configurationOf(sandboxAccount("main-office", sandbox));
  expect(Object.keys(config.accounts["main-office"] ?? {}).toSorted()).toEqual(
    providerNames.toSorted(),
  );
  const [post] = Object.values(accountsOf(config, "evi-post"));
  expect(post).toMatchObject({
    name: "main-office",
    baseUrl: "http://127.0.0.1:1",
    username: "sandbox",
    timeoutMs: 30_000,
    siteHasRegion: true,
    destinationCountries: ["ES"],
    affidavits: {
      mode: "download",
      method: "GET",
      path: "/v1/Affidavits/Download",
      idsParameter: "AffidavitIds",
    },
  });
  const [certificates] = Object.values(accountsOf(config, "disposable-certificate"));
  expect(certificates).toMatchObject({ lraId: "lra-1", emailOtp: true, wrongOtpCodes: [250] });
  expect(certificates?.password.reveal()).toBe("sandbox");
  const [gateway] = Object.values(accountsOf(config, "messaging-gateway"));
  expect(gateway?.apiKey.reveal()).toBe("sandbox-api-key");
  const [oneShot] = Object.values(accountsOf(config, "one-shot-signature"));
  expect(oneShot?.paths.retrieve).toBe("/oneshot/api/v1/document/{request_pk}");
  const [video] = Object.values(accountsOf(config, "video-identification"));
  expect(video).toMatchObject({
    conferenceParameter: "idConference",
    pointers: { conference: "/idConference", state: "/state", verdict: "/verdict" },
    members: { token: ["token", "jwt"] },
  });
  const [envelopes] = Object.values(accountsOf(config, "envelope-signature"));
  expect(envelopes).toMatchObject({
    ca: { baseUrl: "https://127.0.0.1:2", timeoutMs: 30_000 },
    esign: { baseUrl: "http://127.0.0.1:1", timeoutMs: 30_000 },
    members: { EnvelopeId: ["EnvelopeId"] },
  });
  expect(envelopes?.esign.tls).toBeUndefined();
});
