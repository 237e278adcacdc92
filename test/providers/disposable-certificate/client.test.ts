// What the certificate client sends and returns (P1 §2.1–2.5, §4.1, §5.1).
import { describe, expect, test } from "vitest";
import * as client from "../../../src/providers/disposable-certificate/client.js";
import { errorOf } from "../evi-post/account.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, calls, describedAnswer, enrolment, issued } from "./account.js";

const server = serverOfEachTest(describedAnswer);
const sent = () => JSON.parse(server.received[0]?.text ?? "null");

test("an LRA identifier stays one segment of the path", async () => {
  await client.checkData(accountAt(server.url, { lraId: "a/b c" }), enrolment);
  expect(server.received[0]?.path).toBe("/api/certificate/a%2Fb%20c/checkData");
});

test("the body has no member that the specification does not name, and none that is not given", async () => {
  const given = {
    disposableHolder: { firstName: "Ada", lastName: undefined, nickName: "A" },
    disposableDoc: undefined,
    surprise: {},
  };
  await client.checkData(accountAt(server.url), given);
  expect(sent()).toEqual({ disposableHolder: { firstName: "Ada" } });
});

describe("a 200", () => {
  test.each(["checkData", "validate"] as const)(
    "of %s with the error object of a 500 is no success (P1 §2.6)",
    async (operation) => {
      server.answer = answering({ code: 242, message: "otp" });
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
    server.answer = answering(body);
    for (const operation of ["enroll", "enrollDisposableWitheIDAssertion"] as const)
      expect(await calls[operation](accountAt(server.url))).toEqual(expected);
  });

  const unreadable: [string, unknown][] = [
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
      server.answer = answering(body);
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
