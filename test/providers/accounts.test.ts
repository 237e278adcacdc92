// Of a client certificate whose files cannot be used it is told which account's it is, and no path (P1 §5.1, §5.5).
import { PassThrough } from "node:stream";
import { afterEach, expect, test } from "@jest/globals";
import { loadConfig } from "../../src/config.js";
import { sandboxAccount } from "../../src/local/stack/sandbox-accounts.js";
import { accountsOf } from "../../src/providers/accounts.js";
import { redactingLogger } from "../../src/temporal/logging.js";
import { Files, authority, certificates } from "./http/mutual-tls.js";

const before = process.env;
const files = new Files();
afterEach(() => {
  process.env = before;
  files.remove();
});

test("an account that goes on with its certificate of before says so, by its name and a code", () => {
  const { cert, key } = certificates.good;
  files.put("ca.pem", authority.cert);
  files.put("client.pem", cert);
  files.put("client-key.pem", key);
  const url = "https://localhost";
  process.env = sandboxAccount("office", { url, tlsUrl: url, pkiDirectory: files.folder });
  const lines = new PassThrough();
  const logger = redactingLogger("WARN", lines);
  const config = loadConfig();
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
