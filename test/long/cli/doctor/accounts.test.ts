// What `trustflow doctor` finds about the accounts of several providers, asked at a sandbox with mutual TLS (P1 §5.1, §5.3).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:https";
import type { FindingName } from "../../../../src/cli/doctor/findings.js";
import { sandboxAccount } from "../../../../packages/dev/src/stack/sandbox-accounts.js";
import {
  certificateAuthority,
  clientCertificate,
  pkcs12,
  serverCertificate,
} from "../../../../packages/sandbox/src/tls/certificate.js";
import type { Certificate, Validity } from "../../../../packages/sandbox/src/tls/certificate.js";
import { sandboxControl } from "../../../../packages/sandbox/src/control/client.js";
import { type Sandbox, startSandbox } from "../../../../packages/sandbox/src/sandbox.js";
import { Files } from "../../../providers/http/mutual-tls.js";
import {
  type Report,
  closedPort,
  doctor,
  expectFinding,
  listening,
} from "../../../cli/doctor/doctor.js";

const certificateService = "default disposable-certificate";
const files = new Files();
let sandbox: Sandbox;
let env: Record<string, string>;

/** A certificate without a key, as `openssl pkcs12 -export -legacy -nokeys` encrypts it: by RC2 with 40 bits. */
const rc2Pkcs12 = [
  "MIICTAIBAzCCAhIGCSqGSIb3DQEHAaCCAgMEggH/MIIB+zCCAfcGCSqGSIb3DQEHBqCCAegwggHkAgEAMIIB3QYJ",
  "KoZIhvcNAQcBMBwGCiqGSIb3DQEMAQYwDgQIh3NdxCKi/TACAggAgIIBsH2hyReLJ6kpGVxr92CtJsO5UIDQ0me/",
  "oVRUT42NXP0z9vEI2Vrn3dDcQPBQyj2mjZPyB3BB4qiU7lxUx6pypXDplNJDLnjCFWgTEop6lp/qCzxdg72YxSbB",
  "qYe8vf81122AFRMuC4WbAzdXiLWV0JzAttGkIeovXtHNSaYw47yUVVMgE6KfkuVaND/TXQeSwHEOz7EGd3vjf0M0",
  "dRGwU3AN90VVr0K2sFOTDUpI9MZPyoA9GCT5Scl8XAnXYeQqu5B55zpxODCRWV8ibdc1duyABXNdo+4a588VDEAR",
  "mY+fpGb9HHRJv85baLcoiQkhWWjTP5g6MbH9w/E0EGX+fwwvV/2O6ebUfyPbFFZmGHEdW9dM1bVlJTnuUspX2FH9",
  "AXv8UDoVF1zPpQPE/b5V+rgydj777mQoTjv+ieoI/uhEgwYZKl9mmyBCNoHqfRo1Ref2JmH15sJIQEIThuije2zi",
  "Bo46mkvmRgRk6y4f1d/rYj5dnyxnvn5Hwt0PVXq7rfRFPAhNo49dxTyRxT5iJiZf+rilO59nocYqgncDYQZz8v5c",
  "T/m0S8gSknj+No5HHzAxMCEwCQYFKw4DAhoFAAQUrFdg9gPsl50HKqDDJsGNSzSBL4AECCxaxb0sWH2fAgIIAA==",
].join("");

beforeAll(async () => {
  sandbox = await startSandbox({ pkiDirectory: `${files.folder}/pki` });
  const { url, tlsUrl } = sandbox;
  env = {
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    ...sandboxAccount("default", { url, tlsUrl, pkiDirectory: `${files.folder}/pki` }),
  };
});
afterAll(async () => {
  await sandbox.close();
  files.remove();
});

/** Changes of the certificate service's keys; an empty value takes one away. */
function doctorWith(keys: Record<string, string>): Promise<Report> {
  const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__DISPOSABLE_CERTIFICATE";
  const changes = Object.entries(keys).map(([key, value]) => [`${account}__${key}`, value]);
  return doctor({ ...env, ...Object.fromEntries(changes) });
}

function ours({ cert, key }: Certificate): Record<string, string> {
  return { CERTIFICATE_FILE: files.put("own.pem", cert), KEY_FILE: files.put("own-key.pem", key) };
}

function oursInOne(certificate: Certificate, passphrase = "hunter2"): Record<string, string> {
  return {
    CERTIFICATE_FILE: "",
    KEY_FILE: "",
    PKCS12_FILE: files.put("own.p12", pkcs12(certificate, "hunter2")),
    PASSPHRASE: passphrase,
  };
}

function stateOf({ checks }: Report, check: string): unknown {
  return checks.find((one) => one.check === check);
}

describe("where all is well", () => {
  test.each([
    ["PEM", () => ({})],
    ["PKCS#12", () => oursInOne(sandbox.issueClientCertificate("sandbox"))],
  ])("each account takes its credentials, certificate in %s; nothing is left", async (_, keys) => {
    const before = sandbox.ledger();
    const report = await doctorWith(keys());
    const { host } = new URL(sandbox.tlsUrl);
    const plain = new URL(sandbox.url).host;
    for (const [check, detail] of [
      ["account default evi-post", `evi-post at ${plain} accepts the credentials`],
      [
        `account ${certificateService}`,
        `disposable-certificate at ${host} accepts the credentials`,
      ],
      [
        "account default one-shot-signature",
        `one-shot-signature at ${plain} accepts the credentials`,
      ],
      [
        "account default messaging-gateway",
        "is reachable; credentials not checked: the provider has no operation without an effect",
      ],
      ["account default envelope-signature", "is reachable"],
      [`client certificate ${certificateService}`, /^the client certificate is valid 20/],
      [`certificate ${host} (${certificateService})`, /^the certificate of .* is valid 20/],
    ] as const)
      expect(stateOf(report, check)).toEqual({
        check,
        state: "ok",
        detail: expect.stringMatching(detail),
      });
    expect(sandbox.ledger()).toEqual(before);
    // The envelope service is asked for nothing but its handshake (P1 §5.5).
    const { total } = await sandboxControl(sandbox.url).requests();
    expect(Object.keys(total).filter((name) => name.startsWith("envelope"))).toEqual([]);
    expect(report.stdout).not.toContain("hunter2");
  });

  test("without an environment nothing is sent by http", async () => {
    const certificate = "__DISPOSABLE_CERTIFICATE__";
    const undecided = Object.fromEntries(
      Object.entries(env).filter(
        ([name]) => name !== "TRUSTFLOW_ENVIRONMENT" && !name.includes(certificate),
      ),
    );
    const control = sandboxControl(sandbox.url);
    const { total: before } = await control.requests();
    const report = await doctor(undecided);
    expectFinding(report, "account default evi-post", "notChecked", "environment is not set");
    expectFinding(report, "account default one-shot-signature", "notChecked", "not checked: http");
    expect((await control.requests()).total).toEqual(before);
  });
});

describe("the credentials", () => {
  test.each([
    ["a wrong password", { PASSWORD: "hunter3" }],
    ["a user that the LRA does not know", { LRA_ID: "lra-of-nobody" }],
  ])("credentialsOrLraRefused: %s", async (_, keys) => {
    const report = await doctorWith(keys);
    const check = `account ${certificateService}`;
    expectFinding(report, check, "credentialsOrLraRefused", /checkData: answered 500 \(11002\)/);
    expect(report.stdout).not.toContain("hunter3");
  });

  test("credentialsRefused: a token that the signature service does not know", async () => {
    const report = await doctor({
      ...env,
      TRUSTFLOW_ACCOUNTS__DEFAULT__ONE_SHOT_SIGNATURE__TOKEN: "hunter5",
    });
    const check = "account default one-shot-signature";
    expectFinding(report, check, "credentialsRefused", "listTokens: answered 401");
    expect(report.stdout).not.toContain("hunter5");
  });

  test("hungUpAfterHandshake: the envelope service's authority takes another one (P1 §5.5)", async () => {
    const stranger = ours(clientCertificate("sandbox", certificateAuthority("Another person")));
    const keys = Object.entries(stranger).map(([key, value]) => [
      `TRUSTFLOW_ACCOUNTS__DEFAULT__ENVELOPE_SIGNATURE__${key}`,
      value,
    ]);
    const report = await doctor({ ...env, ...Object.fromEntries(keys) });
    const { host } = new URL(sandbox.tlsUrl);
    expectFinding(report, "account default envelope-signature", "hungUpAfterHandshake", host);
  });

  test("providerAway: a gateway that is not there", async () => {
    const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__BASE_URL";
    const report = await doctor({ ...env, [account]: `http://127.0.0.1:${await closedPort()}` });
    const check = "account default messaging-gateway";
    expectFinding(report, check, "providerAway", "ECONNREFUSED");
  });
});

describe("our certificate", () => {
  test.each<[FindingName, string, Validity, typeof ours]>([
    ["certificateExpired", "PEM", { fromDays: -90, untilDays: -1 }, ours],
    ["certificateExpired", "PKCS#12", { fromDays: -90, untilDays: -1 }, oursInOne],
    ["certificateNotYetValid", "PEM", { fromDays: 1 }, ours],
    ["certificateExpiresSoon", "PEM", { untilDays: 29 }, ours],
  ])("%s: %s", async (finding, _format, validity, written) => {
    const report = await doctorWith(written(sandbox.issueClientCertificate("sandbox", validity)));
    expectFinding(report, `client certificate ${certificateService}`, finding);
    const isTaken = finding === "certificateExpiresSoon";
    const check = `account ${certificateService}`;
    if (isTaken) expect(stateOf(report, check)).toMatchObject({ state: "ok" });
    else expectFinding(report, check, "hungUpAfterHandshake");
  });

  test("hungUpAfterHandshake: one of another authority, which is valid by itself", async () => {
    const stranger = clientCertificate("sandbox", certificateAuthority("Another person"));
    const report = await doctorWith(ours(stranger));
    const check = `account ${certificateService}`;
    expectFinding(report, check, "hungUpAfterHandshake", "not sent");
    expect(stateOf(report, `client certificate ${certificateService}`)).toMatchObject({
      state: "ok",
    });
  });

  test("clientCertificateRefused: by a page of nginx, after the handshake", async () => {
    const page = "<html><head><title>400 The SSL certificate error</title></head></html>";
    const authority = certificateAuthority("Authority of the page");
    const shown = serverCertificate(["localhost"], authority);
    const nginx = createServer(shown, (_, answer) => answer.writeHead(400).end(page));
    const baseUrl = `https://localhost:${await listening(nginx)}`;
    const caFile = files.put("page.pem", authority.cert);
    const report = await doctorWith({ BASE_URL: baseUrl, CA_FILE: caFile });
    nginx.close();
    const check = `account ${certificateService}`;
    expectFinding(report, check, "clientCertificateRefused", "answered 400");
  });

  test.each([
    ["a file that is not there", () => ({ KEY_FILE: "/nowhere/key.pem" }), "/nowhere/key.pem"],
    ["what is no certificate", () => ({ CERTIFICATE_FILE: files.put("junk", "junk") }), "NO_START"],
    [
      "a wrong passphrase",
      () => oursInOne(sandbox.issueClientCertificate("sandbox"), "hunter4"),
      "mac verify failure",
    ],
  ] as const)("clientCertificateUnreadable: %s", async (_, keys, detail) => {
    const report = await doctorWith(keys());
    const check = `client certificate ${certificateService}`;
    expectFinding(report, check, "clientCertificateUnreadable", detail);
    expectFinding(report, `account ${certificateService}`, "notChecked", "client certificate");
    expect(report.stdout).not.toContain("hunter");
  });

  test("clientCertificateOutdated: PKCS#12 of an old cipher, which OpenSSL 3 refuses", async () => {
    const PKCS12_FILE = files.put("old.p12", Buffer.from(rc2Pkcs12, "base64"));
    const keys = { CERTIFICATE_FILE: "", KEY_FILE: "", PKCS12_FILE, PASSPHRASE: "hunter2" };
    const report = await doctorWith(keys);
    const check = `client certificate ${certificateService}`;
    expectFinding(report, check, "clientCertificateOutdated", "ERR_CRYPTO_UNSUPPORTED_OPERATION");
    expect(report.stdout).not.toContain("hunter");
  });

  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  test.each([
    ["another certificate", () => sandbox.issueClientCertificate("sandbox").key],
    ["another kind", () => privateKey.export({ type: "pkcs8", format: "pem" })],
  ])("clientCertificateMismatch: a key of %s", async (_, key) => {
    const report = await doctorWith({ KEY_FILE: files.put("other-key.pem", key()) });
    const check = `client certificate ${certificateService}`;
    expectFinding(
      report,
      check,
      "clientCertificateMismatch",
      "MISMATCH; running workers keep using",
    );
  });
});

test("certificateUntrusted: the account's own authorities decide about the server", async () => {
  const caFile = files.put("stranger.pem", certificateAuthority("Another person").cert);
  const report = await doctorWith({ CA_FILE: caFile });
  const { host } = new URL(sandbox.tlsUrl);
  const check = `certificate ${host} (${certificateService})`;
  expectFinding(report, check, "certificateUntrusted", host);
  expectFinding(report, `account ${certificateService}`, "certificateUntrusted");
});
