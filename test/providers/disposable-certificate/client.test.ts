// What the certificate client sends and returns (P1 §2.1–2.5, §4.1, §5.1), over plain HTTP and over mutual TLS.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { ClientCertificate } from "../../../src/providers/http/client-certificate.js";
import * as client from "../../../src/providers/disposable-certificate/client.js";
import { pkcs12 } from "../../../packages/sandbox/src/tls/certificate.js";
import { errorOf } from "../evi-post/account.js";
import { Files, authority, certificates, mutualTls } from "../http/mutual-tls.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import {
  accountAt,
  calls,
  describedAnswer,
  eidEnrolment,
  enrolment,
  issued,
  operations,
  otp,
} from "./account.js";

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  handler = describedAnswer;
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());
const sent = () => JSON.parse(server.received[0]?.text ?? "null");

describe("every request", () => {
  const paths = {
    checkData: "/api/certificate/lra-1/checkData",
    checkDataWitheIDAssertion: "/api/certificate/lra-1/checkDataWitheIDAssertion",
    enroll: "/api/certificate/lra-1/enroll",
    enrollDisposableWitheIDAssertion: "/api/certificate/lra-1/enrollDisposableWitheIDAssertion",
    sendOtp: "/api/certificate/sendOtp",
    validate: "/api/certificate/validate",
  };
  test.each(operations)(
    "%s is a POST of JSON to its path, with Basic (P1 §4.1, §5.1)",
    async (operation) => {
      await calls[operation](accountAt(`${server.url}/test/`));
      const [{ method, path, query, headers } = {}] = server.received;
      expect({ method, path, query }).toEqual({
        method: "POST",
        path: `/test${paths[operation]}`,
        query: {},
      });
      const { authorization, accept, connection: _, ...others } = headers ?? {};
      expect(authorization).toBe(`Basic ${Buffer.from("trustflow:a password").toString("base64")}`);
      expect(accept).toBe("application/json");
      expect(others).toEqual({
        "content-type": "application/json",
        "content-length": String(server.received[0]?.bytes.length),
        "user-agent": "trustflow",
        host: new URL(server.url).host,
      });
    },
  );

  test("an LRA identifier stays one segment of the path", async () => {
    await client.checkData(accountAt(server.url, { lraId: "a/b c" }), enrolment);
    expect(server.received[0]?.path).toBe("/api/certificate/a%2Fb%20c/checkData");
  });
});

describe("the body", () => {
  test.each(["checkData", "enroll"] as const)("of %s is P1 §2.1", async (operation) => {
    await calls[operation](accountAt(server.url));
    expect(sent()).toEqual(enrolment);
  });

  test.each(["checkDataWitheIDAssertion", "enrollDisposableWitheIDAssertion"] as const)(
    "of %s is P1 §2.2, false said as false",
    async (operation) => {
      await calls[operation](accountAt(server.url));
      expect(sent()).toEqual(eidEnrolment);
    },
  );

  test("has no member that the specification does not name, and none that is not given", async () => {
    const given = {
      disposableHolder: { firstName: "Ada", lastName: undefined, nickName: "A" },
      disposableDoc: undefined,
      surprise: {},
    };
    await client.checkData(accountAt(server.url), given);
    expect(sent()).toEqual({ disposableHolder: { firstName: "Ada" } });
  });

  test.each([
    { smsOptions: { textSMS: "Your code: $OTP$" } },
    { smsOptions: { templateId: "t1", language: "it" } },
    { emailOptions: { templateId: "t1", language: "it" } },
    { smsOptions: {} },
  ])("of sendOtp is what enroll gave and %j (P1 §2.3)", async (message) => {
    handler = answering("");
    await client.sendOtp(accountAt(server.url), { ...issued, ...message });
    expect(sent()).toEqual({ ...issued, ...message });
  });

  test("of validate is what enroll gave and the OTP (assumed, P1 §2.4)", async () => {
    await client.validate(accountAt(server.url), { ...issued, otp });
    expect(sent()).toEqual({ ...issued, otp });
  });
});

describe("a 200", () => {
  test.each(["checkData", "validate"] as const)(
    "of %s is success, empty or with JSON (P1 §4.1)",
    async (operation) => {
      for (const body of ["", {}, { code: 0, message: "done" }]) {
        handler = answering(body);
        expect(await calls[operation](accountAt(server.url))).toBeUndefined();
      }
    },
  );

  test.each(["checkData", "validate"] as const)(
    "of %s with the error object of a 500 is no success (P1 §2.6)",
    async (operation) => {
      handler = answering({ code: 242, message: "otp" });
      const error = await errorOf(calls[operation](accountAt(server.url)));
      expect(error).toMatchObject({ status: 200, mismatch: "shape" });
      expect(error.problem).toBe("answered 200 with JSON in which the body is an error object");
    },
  );

  const readable: [string, object, object][] = [
    ["what P1 §2.5 names", issued, issued],
    ["with an OTP identifier", { ...issued, otpId: "o-1" }, { ...issued, otpId: "o-1" }],
    ["with one that is a number", { ...issued, otpId: 7 }, { ...issued, otpId: "7" }],
    ["with one that is neither", { ...issued, otpId: { a: 1 } }, issued],
    ["with null for it", { ...issued, otpId: null }, issued],
    ["with others, whatever they are", { ...issued, certificate: null, code: "x" }, issued],
  ];
  test.each(readable)("of an enroll is read: %s", async (_, body, expected) => {
    handler = answering(body);
    for (const operation of ["enroll", "enrollDisposableWitheIDAssertion"] as const)
      expect(await calls[operation](accountAt(server.url))).toEqual(expected);
  });

  const unreadable: [string, unknown][] = [
    ["empty", ""],
    ["a page", "<html>"],
    ["without certIdOtp", { deviceCode: "device-code" }],
    ["without deviceCode", { certIdOtp: 12_345 }],
    ["with a certIdOtp that is no integer", { certIdOtp: "12345", deviceCode: "device-code" }],
    ["with an empty deviceCode", { certIdOtp: 12_345, deviceCode: "" }],
    ["with a deviceCode that is none", { certIdOtp: 12_345, deviceCode: { is: "device-code" } }],
    ["with a deviceCode by another name", { certIdOtp: 12_345, device_code: "device-code" }],
    ["with a quote in it", '{"certIdOtp": 12345, "deviceCode": "\\"device-code'],
    ["cut by a proxy", '{"certIdOtp": 12345, "deviceCode": "device-co'],
    ["with the request in it", { certIdOtp: null, ...enrolment, deviceCode: "device-code" }],
  ];
  test.each(unreadable)(
    "of an enroll that is %s is an unknown outcome, which shows no secret",
    async (_, body) => {
      handler = answering(body);
      for (const operation of ["enroll", "enrollDisposableWitheIDAssertion"] as const) {
        const error = await errorOf(calls[operation](accountAt(server.url)));
        expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", status: 200 });
        expect(error.detail).toBeUndefined();
        const shows = /certIdOtp\W+12345/.test(JSON.stringify(body));
        expect(error.reference).toBe(shows ? "12345" : undefined);
      }
    },
  );
});

test("an abort reaches the call, and leaves a once-only one in doubt", async () => {
  const abort = new AbortController();
  handler = () => abort.abort();
  const { signal } = abort;
  const error = await errorOf(client.enroll(accountAt(server.url), enrolment, signal));
  expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", code: "ABORTED" });
  const late = await errorOf(client.enroll(accountAt(server.url), enrolment, signal));
  expect(late).toMatchObject({ kind: "unavailable", effect: "none", code: "ABORTED" });
});

describe("mutual TLS (P1 §5.1)", () => {
  let files: Files;
  let secure: ProviderServer;
  beforeEach(async () => {
    files = new Files();
    secure = await startProviderServer(describedAnswer, { tls: mutualTls });
  });
  afterEach(async () => {
    await secure.close();
    files.remove();
  });
  const caFile = () => files.put("ca.pem", authority.cert);

  test("each operation shows the certificate beside Basic", async () => {
    const tls = new ClientCertificate({
      pkcs12File: files.put("own.p12", pkcs12(certificates.good, "open sesame")),
      passphrase: new Secret("open sesame"),
      caFile: caFile(),
    });
    for (const operation of operations) await calls[operation](accountAt(secure.url, { tls }));
    const authorizations = secure.received.map(({ headers }) => headers.authorization);
    expect(authorizations).toHaveLength(operations.length);
    expect(new Set(authorizations)).toEqual(
      new Set([`Basic ${Buffer.from("trustflow:a password").toString("base64")}`]),
    );
  });

  test.each(["other", "expired"] as const)(
    "with a certificate that is %s no operation did anything",
    async (which) => {
      const tls = new ClientCertificate({
        certificateFile: files.put("own.pem", certificates[which].cert),
        keyFile: files.put("own-key.pem", certificates[which].key),
        caFile: caFile(),
      });
      for (const operation of operations) {
        const error = await errorOf(calls[operation](accountAt(secure.url, { tls })));
        // Node hangs up without an alert.
        const code = "HUNG_UP_AFTER_HANDSHAKE";
        expect(error).toMatchObject({ kind: "unavailable", effect: "none", code });
      }
      expect(secure.received).toEqual([]);
    },
  );

  test("a file that cannot be read denies access before anything is sent", async () => {
    const tls = new ClientCertificate({ pkcs12File: "/nowhere/own.p12", caFile: caFile() });
    const error = await errorOf(calls.enroll(accountAt(secure.url, { tls })));
    expect(error).toMatchObject({ kind: "accessDenied", effect: "none", code: "ENOENT" });
  });
});
