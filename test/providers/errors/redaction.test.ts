// What was sent in secret does not come back in an error: as a code, in a text, as a number, in an answer that broke
// (docs/reading-the-specification.md §8).
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspect } from "node:util";
import { checkData, validate } from "../../../src/providers/disposable-certificate/client.js";
import { createOperator } from "../../../src/providers/credential-wallet/client.js";
import { sendEnvelope } from "../../../src/providers/envelope-signature/client.js";
import { query, submit } from "../../../src/providers/evi-post/client.js";
import { send } from "../../../src/providers/messaging-gateway/client.js";
import { create, sign } from "../../../src/providers/one-shot-signature/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { accountAt as certificates } from "../disposable-certificate/account.js";
import { accountAt as wallets } from "../credential-wallet/account.js";
import { accountAt as envelopes } from "../envelope-signature/account.js";
import { rejectCall } from "../../../src/providers/video-identification/client.js";
import { accountAt as video } from "../video-identification/account.js";
import { accountAt as post, errorOf } from "../evi-post/account.js";
import { accountAt as messages } from "../messaging-gateway/account.js";
import { accountAt as signatures } from "../one-shot-signature/account.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";

const CREDENTIAL = "s3cr3t-of-ours";
const credential = new Secret(CREDENTIAL);
let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());

const queried = () =>
  errorOf(query(post(server.url, { password: credential }), { uniqueIds: ["u1"] }));
const checked = (secrets: { password?: string; securityCode?: string }) =>
  errorOf(checkData(certificates(server.url), { disposableCertificate: secrets }));

test.each([
  ["evi-post", () => queried()],
  [
    "messaging-gateway",
    () => errorOf(send(messages(server.url, { apiKey: credential }), { to: "x" })),
  ],
  ["one-shot-signature", () => errorOf(create(signatures(server.url, { token: credential }), {}))],
  [
    "envelope-signature",
    () =>
      errorOf(
        sendEnvelope(
          { ...envelopes(server.url), apiToken: credential },
          { documents: [{ fileId: "f1" }], esawToken: "e", envelope: {} },
        ),
      ),
  ],
  [
    "credential-wallet",
    () => errorOf(createOperator(wallets(server.url, { apiToken: credential }), { fields: {} })),
  ],
  [
    "video-identification",
    () => errorOf(rejectCall(video(server.url, { apiKey: credential }), { idConference: "c1" })),
  ],
] as const)(
  "a code, a type or a name that holds a credential of %s is dropped",
  async (_, call) => {
    const code = `Unknown:${CREDENTIAL}`;
    const errors = [{ errorCode: code, fieldName: CREDENTIAL, message: CREDENTIAL }];
    const responseStatus = { errorCode: CREDENTIAL, message: "no", errors };
    const body = { code, type: code, ErrorId: code, message: "no", responseStatus };
    handler = answering(body, 400);
    const error = await call();
    expect(error).toMatchObject({ status: 400, detail: "no" });
    expect(error.code).toBeUndefined();
    expect(error.type).toBeUndefined();
    expect(inspect(error, { showHidden: true })).not.toContain(CREDENTIAL);
  },
);

test("a code that is a credential in digits is dropped (P1 §2.6)", async () => {
  handler = answering({ code: 900_411, message: "no" }, 500);
  const account = certificates(server.url, { password: new Secret("900411") });
  const error = await errorOf(checkData(account, {}));
  expect(error.code).toBeUndefined();
  expect(error.message).not.toContain("900411");
});

test("a code that looks like an entered OTP stays", async () => {
  handler = answering({ code: "otp_wrong", message: "no" }, 400);
  const call = sign(signatures(server.url), { requestPk: "r1", otp: "otp" });
  expect((await errorOf(call)).code).toBe("otp_wrong");
});

test("a short secret changes values alone, and no secret is looked for in what stands for another", async () => {
  handler = answering({ message: "no secret is right", of: 7 }, 500);
  const error = await checked({ password: "secret", securityCode: "e" });
  expect(error.detail).toBe('{"message":"no [secret] is right","of":7}');
});

test("a number and a name go where they are a secret, and stay where they contain one", async () => {
  handler = answering({ tried: [482_913, 1_482_913], "482913": "otp", x482913: 1 }, 500);
  const otp = { certIdOtp: 1, deviceCode: "d", otp: "482913" };
  const error = await errorOf(validate(certificates(server.url), otp));
  expect(error.detail).toBe('{"[secret]":"otp","tried":["[secret]",1482913],"x482913":1}');
});

test("a secret of signs that mean something in a pattern is found", async () => {
  handler = answering({ message: "not a+b(c|d)[e]$1\\." }, 500);
  const error = await checked({ password: "a+b(c|d)[e]$1\\." });
  expect(error.detail).toBe('{"message":"not [secret]"}');
});

test("what is no JSON loses its secrets as a text", async () => {
  handler = answering('<p>s3 and {"s":"say \\"s3\\""}</p>', 502);
  const error = await checked({ password: "s3", securityCode: 'say "s3"' });
  expect(error.detail).toBe('<p>[secret] and {"s":"[secret]"}</p>');
});

test("a broken 2xx repeats nothing of what was sent (P2 §4.1)", async () => {
  handler = answering({ results: `of ${CREDENTIAL}` });
  const error = await queried();
  expect(error).toMatchObject({ kind: "protocol", detail: '{"results":"of [secret]"}' });
  handler = answering(`blue ${CREDENTIAL}`);
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
  handler = answering({ responseStatus: { errorCode: "E", errors } }, 400);
  const error = await queried();
  expect(error.fields.map(({ fieldName }) => fieldName)).toEqual(
    errors.slice(0, 50).map(({ fieldName }) => fieldName),
  );
  expect(error.message.length).toBeLessThan(1_000);
});
