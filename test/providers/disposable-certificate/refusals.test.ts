// What each status and code means, operation by operation (P1 §4.1, §7.1; P1 §5.1; docs/reading-the-specification.md §5).
import { describe, expect, test } from "vitest";
import { answering } from "../provider-server.js";
import { away, denied, errorAt, meaningOf, protocol, refused, unknown } from "../refusals.js";
import { WRONG_OTP, accountAt, calls, operations } from "./account.js";

type Operation = (typeof operations)[number];
const checks: Operation[] = ["checkData", "checkDataWitheIDAssertion"];
const enrollments: Operation[] = ["enroll", "enrollDisposableWitheIDAssertion"];
const enrolling = [...checks, ...enrollments];
const once: Operation[] = [...enrollments, "sendOtp", "validate"];

const byCode: [number, readonly Operation[], string][] = [
  [242, enrolling, refused],
  [237, enrolling, refused],
  [239, enrolling, refused],
  [244, enrolling, denied],
  [11002, operations, denied],
  [242, ["sendOtp", "validate"], protocol],
  [62, ["sendOtp", "validate"], protocol],
  [249, ["sendOtp", "validate"], protocol],
  [99, ["sendOtp"], protocol],
  [99, ["validate"], unknown],
  [237, ["sendOtp", "validate"], unknown],
  [WRONG_OTP, ["validate"], refused],
  [WRONG_OTP, ["sendOtp", ...enrollments], unknown],
  [251, once, unknown],
  [62, enrollments, unknown],
  [62, checks, refused],
  [4711, checks, refused],
  [-1, once, unknown],
];

describe.each(byCode)("500 with code %i", (code, those, expected) => {
  test.each(those)(`of %s is ${expected}`, async (operation) => {
    const error = await refusal(operation, 500, { code, message: "the provider's words" });
    expect(meaningOf(error)).toBe(expected);
    expect(error).toMatchObject({ status: 500, code: String(code), fields: [] });
    expect(error.detail).toBe("the provider's words");
    if (code === 244 || code === 11002) expect(error.denies).toBe("operation");
  });
});

test.each([
  ["a code that is no integer", { code: "242", message: "…" }],
  ["no code", { message: "…" }],
  ["a list", [242]],
  ["nothing", ""],
])("a 500 with %s proves nothing", async (_, body) => {
  const kinds = await Promise.all(operations.map(async (one) => refusal(one, 500, body)));
  expect(kinds.map(meaningOf)).toEqual([...checks.map(() => away), ...once.map(() => unknown)]);
});

test("a code has its meaning at 500 alone (P1 §4.1)", async () => {
  const error = await refusal("enroll", 503, { code: 242, message: "firstName" });
  expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", fields: [] });
});

test("without configured codes a wrong OTP is an unknown outcome that keeps its code", async () => {
  const handler = answering({ code: WRONG_OTP, message: "…" }, 500);
  const call = (url: string) => calls.validate(accountAt(url, { wrongOtpCodes: [] }));
  const error = await errorAt(handler, call);
  expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", code: "250" });
});

describe("the field of code 242 (P1 §7.1)", () => {
  const data: [string, string | undefined][] = [
    ["disposableHolder.firstName: must not be blank", "disposableHolder.firstName"],
    ["firstName must not be blank", "disposableHolder.firstName"],
    ["Field [lastName] is mandatory", "disposableHolder.lastName"],
    ["enrollRequest.disposableDoc.documentIssuerDate: size", "disposableDoc.documentIssuerDate"],
    ["documentIssuerDate is not a date", "disposableDoc.documentIssuerDate"],
    ["identificationType: unknown type", "disposableHolder.identificationType"],
    ["type must be DISPOSABLE", "disposableCertificate.type"],
    ["disposableContacts must not be null", "disposableContacts"],
    ["email: OTP by email is not enabled", "disposableContacts.email"],
    ["something is missing", undefined],
    ["theirfirstNames", undefined],
  ];
  test.each(data)("%j names %s", async (message, fieldName) => {
    for (const operation of ["checkData", "enroll"] as const)
      expect(await fieldsOf(operation, message)).toEqual(fieldName ? [fieldName] : []);
  });

  const eid: [string, string | undefined][] = [
    ["eIDType must not be null", "eidAssertionHolder.eIDType"],
    ["certificate.fullData: boolean expected", "certificate.fullData"],
    ["contacts.mobile: not E.164", "contacts.mobile"],
    ["firstName must not be null", undefined],
  ];
  test.each(eid)("with an eID assertion %j names %s", async (message, fieldName) => {
    for (const operation of [
      "checkDataWitheIDAssertion",
      "enrollDisposableWitheIDAssertion",
    ] as const)
      expect(await fieldsOf(operation, message)).toEqual(fieldName ? [fieldName] : []);
  });

  test("stands in the error's message, the provider's words beside it in hiding", async () => {
    const error = await refusal("enroll", 500, { code: 242, message: "lastName: Rossi? No" });
    expect(error.message).toBe(
      "disposable-certificate enroll: answered 500 (242; disposableHolder.lastName)",
    );
    expect(error.fields[0]?.message).toBe("lastName: Rossi? No");
  });

  async function fieldsOf(operation: Operation, message: string) {
    const { fields } = await refusal(operation, 500, { code: 242, message });
    return fields.map(({ fieldName }) => fieldName);
  }
});

const refusal = (operation: Operation, status: number, body: unknown) =>
  errorAt(answering(body, status), (url) => calls[operation](accountAt(url)));
