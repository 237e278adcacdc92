// What was sent in secret does not come back in an error: as a code, in a text, as a number, in an answer that broke
// (docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { inspect } from "node:util";
import { checkData, validate } from "../../../src/providers/disposable-certificate/client.js";
import { query, submit } from "../../../src/providers/evi-post/client.js";
import { sign } from "../../../src/providers/one-shot-signature/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { accountAt as certificates } from "../disposable-certificate/account.js";
import { accountAt as post, errorOf } from "../evi-post/account.js";
import { accountAt as signatures } from "../one-shot-signature/account.js";
import { operations } from "../operations.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import { apiKey, jwt, withToken } from "../video-identification/account.js";

const CREDENTIAL = "s3cr3t-of-ours";
const credential = new Secret(CREDENTIAL);
const server = serverOfEachTest();

const queried = () =>
  errorOf(query(post(server.url, { password: credential }), { uniqueIds: ["u1"] }));
const checked = (secrets: { password?: string; securityCode?: string }) =>
  errorOf(checkData(certificates(server.url), { disposableCertificate: secrets }));

/** What the account sends, and what persons chose or typed, by the provider, or by one of its operations. */
const credentials: Record<string, string[]> = {
  "evi-post": ["a password"],
  "evi-notice": ["a password"],
  "disposable-certificate": ["a password"],
  "messaging-gateway": ["an-api-key", "a password"],
  "one-shot-signature": ["ra-operator"],
  "envelope-signature": ["api-token"],
  "envelope-signature esawoneshot": [],
  "credential-wallet": ["api-operator"],
  "video-identification": [apiKey],
  ...Object.fromEntries(withToken.map((name) => [`video-identification ${name}`, [jwt]])),
};
const chosen = ["holder chosen 1", "holder chosen 2"];
const typed: Record<string, string[]> = {
  "evi-post submit": ["blue"],
  "evi-notice submit": ["blue"],
  "disposable-certificate checkData": chosen,
  "disposable-certificate checkDataWitheIDAssertion": [...chosen, "YXNzZXJ0aW9u"],
  "disposable-certificate enroll": chosen,
  "disposable-certificate enrollDisposableWitheIDAssertion": [...chosen, "YXNzZXJ0aW9u"],
  "disposable-certificate sendOtp": ["device-code"],
  "disposable-certificate validate": ["device-code", "482913"],
  "one-shot-signature sign": ["482913"],
  "envelope-signature sendEnvelope": ["esaw-token"],
};

test.each(operations.map((called) => [called.name, called] as const))(
  "what %s sends in secret does not come back",
  async (name, { provider, call }) => {
    const own = credentials[name] ?? credentials[provider] ?? [];
    const secrets = [...own, ...(typed[name] ?? [])];
    const message = `firstName, eIDType, not ${secrets.join(" nor ")}, is wrong`;
    const code = own.length > 0 ? `Unknown:${own[0]}` : undefined;
    const errors = [{ errorCode: code, fieldName: own[0], message }];
    const words = { code, type: code, ErrorId: code, Type: code, message, Message: message };
    const responseStatus = { errorCode: code, message, errors };
    const codes = provider === "disposable-certificate" ? [242, 11002, 4711, code] : [code];
    for (const status of [400, 401, 500])
      for (const one of codes) {
        const body = { ...words, Detail: message, responseStatus, code: one };
        const error = await errorAt(answering(body, status), call);
        expect(error).toMatchObject({ status, detail: expect.stringContaining("is wrong") });
        // A token of a call is taken out of the code itself.
        if (one === code && own[0] !== jwt)
          expect([error.code, error.type]).toEqual([undefined, undefined]);
        const said = inspect(error, { depth: 9, getters: true, showHidden: true });
        for (const secret of secrets) expect(said).not.toContain(secret);
      }
  },
);

test("a code that is a credential in digits is dropped (P1 §2.6)", async () => {
  server.answer = answering({ code: 900_411, message: "no" }, 500);
  const account = certificates(server.url, { password: new Secret("900411") });
  const error = await errorOf(checkData(account, {}));
  expect(error.code).toBeUndefined();
  expect(error.message).not.toContain("900411");
});

test.each(["otp", "wrong", "o", "400", '"'])(
  "an OTP typed as %j does not change the code that looks like it",
  async (otp) => {
    server.answer = answering({ code: "otp_wrong", message: "no", status: 400 }, 400);
    const error = await errorOf(sign(signatures(server.url), { requestPk: "r1", otp }));
    expect(error).toMatchObject({ kind: "invalidRequest", code: "otp_wrong" });
  },
);

test("a short secret changes values alone, and no secret is looked for in what stands for another", async () => {
  server.answer = answering({ message: "no secret is right", of: 7 }, 500);
  const error = await checked({ password: "secret", securityCode: "e" });
  expect(error.detail).toBe('{"message":"no [secret] is right","of":7}');
});

test("a number and a name go where they are a secret, and stay where they contain one", async () => {
  server.answer = answering({ tried: [482_913, 1_482_913], "482913": "otp", x482913: 1 }, 500);
  const otp = { certIdOtp: 1, deviceCode: "d", otp: "482913" };
  const error = await errorOf(validate(certificates(server.url), otp));
  expect(error.detail).toBe('{"[secret]":"otp","tried":["[secret]",1482913],"x482913":1}');
});

test("a secret that JSON writes in another way does not come back either", async () => {
  const password = 'say "ä"\\';
  server.answer = answering({ message: `not ${password}` }, 500);
  const error = await checked({ password });
  expect(error.detail).toBe('{"message":"not [secret]"}');
});

test("nor does one that the provider's JSON escapes as ours does not", async () => {
  const message = "firstName: not a\\u002Bb\\u003C\\u00e4, nor d\\/e";
  for (const mark of ["", "\ufeff"]) {
    server.answer = answering(`${mark}{"code":242,"message":"${message}"}`, 500);
    const error = await checked({ password: "a+b<ä", securityCode: "d/e" });
    expect(error.detail).toBe("firstName: not [secret], nor [secret]");
    expect(error.fields[0]?.message).toBe(error.detail);
  }
});

test("an answer of a depth that cannot be written again is shown as it came", async () => {
  server.answer = answering("[".repeat(99_999) + "]".repeat(99_999), 500);
  const error = await checked({});
  expect(error.detail).toBe(`${"[".repeat(497)}…`);
});

test("the Basic credentials do not come back as they travelled, in the page of a proxy (P1 §5.1)", async () => {
  server.answer = ({ headers: { authorization } }, response) => {
    response.writeHead(502).end(`<pre>Authorization: ${authorization}</pre>`);
  };
  const error = await checked({});
  expect(error.detail).toBe("<pre>Authorization: Basic [secret]</pre>");
});

test("a secret of signs that mean something in a pattern is found", async () => {
  server.answer = answering({ message: "not a+b(c|d)[e]$1\\." }, 500);
  const error = await checked({ password: "a+b(c|d)[e]$1\\." });
  expect(error.detail).toBe('{"message":"not [secret]"}');
});

test("what is no JSON loses its secrets as a text", async () => {
  server.answer = answering('<p>s3 and {"s":"say \\"s3\\""}</p>', 502);
  const error = await checked({ password: "s3", securityCode: 'say "s3"' });
  expect(error.detail).toBe('<p>[secret] and {"s":"[secret]"}</p>');
});

test("a broken 2xx repeats nothing of what was sent (P2 §4.1)", async () => {
  server.answer = answering({ results: `of ${CREDENTIAL}` });
  const error = await queried();
  expect(error).toMatchObject({ kind: "protocol", detail: '{"results":"of [secret]"}' });
  server.answer = answering(`blue ${CREDENTIAL}`);
  const options = { evidenceAccessControlChallengeResponse: new Secret("blue") };
  const address = { streetAddress: "a", postalCode: "28001", locality: "Madrid", country: "ES" };
  const submission = {
    document: Buffer.from("%PDF-1.4"),
    recipientName: "Ada",
    recipientAddress: address,
    options,
  };
  const call = submit(post(server.url, { password: credential }), submission, "token");
  expect((await errorOf(call)).detail).toBe("[secret] [secret]");
});

test("of the fields that a provider finds fault with fifty are kept (P2 §7.1)", async () => {
  const errors = Array.from({ length: 5_000 }, (_, at) => ({ fieldName: `F${at}` }));
  server.answer = answering({ responseStatus: { errorCode: "E", errors } }, 400);
  const error = await queried();
  expect(error.fields.map(({ fieldName }) => fieldName)).toEqual(
    errors.slice(0, 50).map(({ fieldName }) => fieldName),
  );
  expect(error.message.length).toBeLessThan(1_000);
});
