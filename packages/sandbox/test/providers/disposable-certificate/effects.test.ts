// What the simulated certificate service leaves behind: ledger, outbox, faults of magic words, state over a restart.
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import { basic, MINUTE } from "../../caller.js";
import { exchange } from "../../exchange.js";
import { assertion, assertionBody, call, enroll, holderBody, sendOtp, validate } from "./caller.js";

const PERSON = "RSSDAA85T41H501Z";
const sandbox = await startSandbox({ speed: "manual", seed: "effects" });
const control = sandboxControl(sandbox.url);
beforeEach(() => control.reset());
afterAll(() => sandbox.close());

const enrolling = (body: unknown = holderBody(), type = "application/json") => {
  const headers = { authorization: basic(), "content-type": type };
  const path = "/api/certificate/lra-1/enroll";
  return exchange(sandbox, { method: "POST", path, headers, body, clientCertificate: true });
};

test("enroll, sendOtp and validate are effects for the identification code", async () => {
  const issued = await enroll(sandbox);
  const otp = await sendOtp(sandbox, issued);
  expect((await validate(sandbox, issued, otp)).status).toBe(200);
  const { byIntent, duplicates, violations } = await control.ledger(PERSON);
  expect(byIntent).toEqual({
    [PERSON]: {
      "disposable-certificate.enroll": 1,
      "disposable-certificate.sendOtp": 1,
      "disposable-certificate.validate": 1,
    },
  });
  expect([duplicates, violations]).toEqual([[], []]);
  const { items } = await control.items({ intent: PERSON });
  expect(items).toMatchObject([{ id: String(issued["certIdOtp"]), state: "validated" }]);
});

test("the eID enrollment is an effect under its own name, for the claim person_identifier", async () => {
  await enroll(sandbox, { isByAssertion: true });
  expect((await control.ledger(PERSON)).byIntent).toEqual({
    [PERSON]: { "disposable-certificate.enrollDisposableWitheIDAssertion": 1 },
  });
});

test("checks leave nothing behind; a second enroll or validation is a duplicate, a second code is not", async () => {
  await call(sandbox, "lra-1/checkData", holderBody());
  expect(sandbox.ledger().effects).toEqual([]);
  await enroll(sandbox);
  const issued = await enroll(sandbox);
  await sendOtp(sandbox, issued);
  const otp = await sendOtp(sandbox, issued);
  await validate(sandbox, issued, otp);
  await validate(sandbox, issued, otp);
  expect(sandbox.ledger().duplicates.map(({ operation, count }) => [operation, count])).toEqual([
    ["disposable-certificate.enroll", 2],
    ["disposable-certificate.validate", 2],
  ]);
});

test("an assertion in base64url, or without its padding, is not valid (P1 §2.2)", async () => {
  // With ">>" in it both alphabets are needed; a name of another length always leaves padding.
  const given = ["Ada >>>???", "Ada >>>????"].map((givenName) => assertion(sandbox, { givenName }));
  const written = [
    ...given.map((text) => Buffer.from(text, "base64").toString("base64url")),
    ...given.map((text) => text.replace(/=+$/, "")),
  ].filter((text) => !given.includes(text));
  expect(written.length).toBeGreaterThan(2);
  for (const text of written) {
    const { body } = await call(sandbox, "lra-1/checkDataWitheIDAssertion", assertionBody(text));
    expect(body).toMatchObject({ code: 239 });
  }
});

test("what P1 §2.3 does not name is noted, wherever it stands", async () => {
  const { certIdOtp, deviceCode } = await enroll(sandbox);
  const smsOptions = { textSMS: "Your code is $OTP$", sender: "us" };
  await call(sandbox, "sendOtp", { certIdOtp, deviceCode, smsOptions, note: "n" });
  const { violations } = await control.ledger(PERSON);
  expect(violations.map(({ kind, detail }) => [kind, detail])).toEqual([
    ["unknownField", "note"],
    ["unknownField", "smsOptions.sender"],
  ]);
});

test("a new code takes the place of the old one, and unlocks", async () => {
  const issued = await enroll(sandbox);
  const first = await sendOtp(sandbox, issued);
  for (let count = 0; count < 5; count += 1) await validate(sandbox, issued, "wrong");
  expect((await validate(sandbox, issued, first)).body).toMatchObject({ code: 251 });
  const second = await sendOtp(sandbox, issued);
  expect(second).not.toBe(first);
  expect((await validate(sandbox, issued, first)).body).toMatchObject({ code: 250 });
  expect((await validate(sandbox, issued, second)).status).toBe(200);
});

test("the outbox shows the code by intent, the item does not, and reset empties both", async () => {
  const issued = await enroll(sandbox);
  const otp = await sendOtp(sandbox, issued);
  expect(otp).toMatch(/^\d{6}$/);
  expect(await control.messages(PERSON)).toEqual([
    {
      at: expect.any(String),
      provider: "disposable-certificate",
      intent: PERSON,
      channel: "SMS",
      to: "+393331234567",
      text: `Your code is ${otp}`,
      otp,
    },
  ]);
  expect(await control.messages("nobody")).toEqual([]);
  const shown = JSON.stringify(await control.item(String(issued["certIdOtp"])));
  expect(shown).not.toContain(otp);
  await control.reset();
  expect(await control.messages()).toEqual([]);
});

test("a magic word in the first name holds for the whole enrollment", async () => {
  const firstName = "sandbox:enroll=code-777,sendOtp=reject-503,validate=cut-after-commit";
  expect(await call(sandbox, "lra-1/enroll", holderBody(firstName))).toMatchObject({
    status: 500,
    body: { code: 777 },
  });
  const issued = await enroll(sandbox, { firstName });
  await expect(sendOtp(sandbox, issued)).rejects.toThrow(/503/);
  const otp = await sendOtp(sandbox, issued);
  await expect(validate(sandbox, issued, otp)).rejects.toThrow(/socket hang up|ECONNRESET/);
  expect((await validate(sandbox, issued, otp)).status).toBe(200);
  expect(sandbox.ledger(PERSON).duplicates).toMatchObject([
    { operation: "disposable-certificate.validate", count: 2 },
  ]);
});

test("a magic word may stand in the claim given_name, and an unknown one is refused", async () => {
  const coded = assertion(sandbox, { givenName: "sandbox:checkDataWitheIDAssertion=code-239" });
  const path = "lra-1/checkDataWitheIDAssertion";
  expect((await call(sandbox, path, assertionBody(coded))).body).toMatchObject({ code: 239 });
  expect((await call(sandbox, path, assertionBody(coded))).status).toBe(200);
  const unknown = assertion(sandbox, { givenName: "sandbox:nonsense" });
  expect((await call(sandbox, path, assertionBody(unknown))).body).toEqual({
    code: 242,
    message: "eidAssertionHolder.assertion: unknown magic value: nonsense",
  });
});

test("a 500 by fault has no error object, unless the fault has a code (P1 §4.1)", async () => {
  const operation = "disposable-certificate.enroll";
  await control.addFault({ operation, kind: "reject", status: 500 });
  expect((await enrolling()).headers["content-type"]).toBe("text/plain");
  await control.addFault({ operation, kind: "error-after-commit", code: 9 });
  expect((await enrolling()).body).toMatchObject({ code: 9 });
  expect(sandbox.ledger().effects).toHaveLength(1);
  await expect(control.addFault({ operation, kind: "code" })).rejects.toThrow(/code: is required/);
});

test("another content type and an unknown field are violations (P1 §4.1)", async () => {
  const body = holderBody();
  body.disposableHolder.middleName = "Augusta";
  await enrolling(body, "text/plain");
  await enrolling(body);
  expect(sandbox.ledger(PERSON).violations).toMatchObject([
    { kind: "wrongContentType", detail: "text/plain", account: "sandbox" },
    { kind: "unknownField", detail: "disposableHolder.middleName" },
  ]);
});

test("which codes a wrong and an expired one answer is an option", async () => {
  const options = { wrongOtpCode: 11, expiredOtpCode: 12, otpLifetimeMs: MINUTE };
  const other = await startSandbox({ speed: "manual", ...options });
  const issued = await enroll(other);
  const otp = await sendOtp(other, issued);
  expect((await validate(other, issued, "wrong")).body).toMatchObject({ code: 11 });
  await other.clock.advance(MINUTE);
  expect((await validate(other, issued, otp)).body).toMatchObject({ code: 12 });
  await other.close();
});
