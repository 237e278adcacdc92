// Nothing that travels shows in an error, and no secret comes back in the provider's own words (P1 §2.1–2.4;
// docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/disposable-certificate/client.js";
import type { DisposableCertificateAccount } from "../../../src/providers/disposable-certificate/client.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { answering } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import { accountAt, calls, operations } from "./account.js";

const secrets = { password: CANARY, securityCode: CANARY, type: CANARY, otpType: CANARY };
const enrolment = {
  disposableHolder: { firstName: CANARY, identificationCode: CANARY },
  disposableCertificate: secrets,
  disposableContacts: { mobile: CANARY, email: CANARY },
};
const eidEnrolment = {
  eidAssertionHolder: { country: CANARY, eIDType: CANARY, assertion: CANARY },
  contacts: { mobile: CANARY },
  certificate: { fullData: true, ...secrets },
};
const issued = { certIdOtp: 1, deviceCode: CANARY };
const secretCalls: Record<
  keyof typeof calls,
  (account: DisposableCertificateAccount) => Promise<unknown>
> = {
  checkData: (account) => client.checkData(account, enrolment),
  checkDataWitheIDAssertion: (account) => client.checkDataWitheIDAssertion(account, eidEnrolment),
  enroll: (account) => client.enroll(account, enrolment),
  enrollDisposableWitheIDAssertion: (account) =>
    client.enrollDisposableWitheIDAssertion(account, eidEnrolment),
  sendOtp: (account) =>
    client.sendOtp(account, { ...issued, smsOptions: { textSMS: `${CANARY} $OTP$` } }),
  validate: (account) => client.validate(account, { ...issued, otp: CANARY }),
};

const answer = { message: `firstName: ${CANARY}`, certIdOtp: CANARY, deviceCode: CANARY };

test.concurrent.each(operations)("%s leaks nothing", async (operation) => {
  for (const code of [242, 11002, CANARY]) {
    const broken = await brokenCalls(JSON.stringify({ ...answer, code }), (baseUrl) =>
      secretCalls[operation](
        accountAt(baseUrl, { timeoutMs: 300, username: "canary", password: new Secret(CANARY) }),
      ),
    );
    expect(broken.length).toBeGreaterThan(14);
    expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
  }
});

const sentInSecret: Record<keyof typeof calls, string[]> = {
  checkData: ["holder chosen 1", "holder chosen 2"],
  checkDataWitheIDAssertion: ["holder chosen 1", "holder chosen 2", "YXNzZXJ0aW9u"],
  enroll: ["holder chosen 1", "holder chosen 2"],
  enrollDisposableWitheIDAssertion: ["holder chosen 1", "holder chosen 2", "YXNzZXJ0aW9u"],
  sendOtp: ["device-code"],
  validate: ["device-code", "482913"],
};

test.each(operations)("what %s sends in secret does not come back", async (operation) => {
  const repeated = [...sentInSecret[operation], "a password"];
  for (const code of [242, 11002, 4711, undefined]) {
    const message = `firstName, eIDType, not ${repeated.join(" nor ")}, is wrong`;
    const error = await errorAt(answering({ code, message }, 500), (url) =>
      calls[operation](accountAt(url)),
    );
    const said = [error.detail, ...error.fields.map((field) => field.message)].join();
    expect(said).toContain("is wrong");
    for (const secret of repeated) expect(said).not.toContain(secret);
  }
});

test("a secret that JSON writes in another way does not come back either", async () => {
  const password = 'say "ä"\\';
  const given = { disposableCertificate: { password } };
  const error = await errorAt(answering({ message: `not ${password}` }, 500), (url) =>
    client.checkData(accountAt(url), given),
  );
  expect(error.detail).toBe('{"message":"not [secret]"}');
});

test("nor does one that the provider's JSON escapes as ours does not", async () => {
  const message = "firstName: not a\\u002Bb\\u003C\\u00e4, nor d\\/e";
  const given = { disposableCertificate: { password: "a+b<ä", securityCode: "d/e" } };
  const error = await errorAt(answering(`{"code":242,"message":"${message}"}`, 500), (url) =>
    client.checkData(accountAt(url), given),
  );
  expect(error.detail).toBe("firstName: not [secret], nor [secret]");
  expect(error.fields[0]?.message).toBe(error.detail);
});

test("an answer of a depth that cannot be written again is shown as it came", async () => {
  const error = await errorAt(answering("[".repeat(99_999) + "]".repeat(99_999), 500), (url) =>
    client.checkData(accountAt(url), {}),
  );
  expect(error.detail).toBe(`${"[".repeat(497)}…`);
});

test("the Basic credentials do not come back as they travelled, in the page of a proxy (P1 §5.1)", async () => {
  const handler: Handler = ({ headers: { authorization } }, response) => {
    response.writeHead(502).end(`<pre>Authorization: ${authorization}</pre>`);
  };
  const error = await errorAt(handler, (url) => client.checkData(accountAt(url), {}));
  expect(error.detail).toBe("<pre>Authorization: Basic [secret]</pre>");
});
