// What every status means for every operation (P1 §7.3 shows none: by effect class), and what is said about an OTP.
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Operation } from "../../../src/providers/registry.js";
import { otpVerdict } from "../../../src/providers/one-shot-signature/translate.js";
import { errorOf } from "../evi-post/account.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

type OneShotOperation = Operation<"one-shot-signature">;

const tokens: OneShotOperation[] = ["listTokens"];
const questions: OneShotOperation[] = ["contract", "retrieve", "getVideo"];
const uploads: OneShotOperation[] = ["uploadDocument", "uploadHash"];
const deletions: OneShotOperation[] = ["deleteDocuments"];
const once = (Object.keys(calls) as OneShotOperation[]).filter(
  (operation) => ![...tokens, ...questions, ...uploads, ...deletions].includes(operation),
);

const protocol = ["protocol", "none"];
const refused = ["invalidRequest", "none"];
const denied = ["accessDenied", "none"];
const unknown = ["unknownOutcome", "unknown"];
const lookUp = ["unavailable", "unknown"];
const away = ["unavailable", "none"];
const limited = ["rateLimited", "none"];
const invisible = ["notVisibleYet", "none"];
const success = undefined;

const table: [number, ...(string[] | undefined)[]][] = [
  // status, once, uploads, questions about a request, the list of tokens, deletion
  [302, unknown, lookUp, protocol, protocol, away],
  [401, denied, denied, denied, denied, denied],
  [403, denied, denied, denied, denied, denied],
  [404, protocol, protocol, invisible, protocol, success],
  [405, protocol, protocol, protocol, protocol, protocol],
  [408, unknown, lookUp, away, away, away],
  [409, unknown, lookUp, away, away, away],
  [413, protocol, protocol, protocol, protocol, protocol],
  [422, protocol, protocol, protocol, protocol, protocol],
  [429, limited, limited, limited, limited, limited],
  [500, unknown, lookUp, away, away, away],
  [503, unknown, lookUp, away, away, away],
];

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());

describe.each(table)("a %i is", (status, ...meanings) => {
  const rows = [once, uploads, questions, tokens, deletions].flatMap((operations, index) =>
    operations.map((operation) => [operation, meanings[index]] as const),
  );
  test.each(rows)("for %s: %j", async (operation, meaning) => {
    handler = answering({ code: "some_code", message: "words" }, status, { "retry-after": "7" });
    const call = calls[operation](accountAt(server.url), "r1");
    if (meaning === success) return expect(await call).toBeUndefined();
    const error = await errorOf(call);
    expect([error.kind, error.effect]).toEqual(meaning);
    expect(error).toMatchObject({ operation, status, code: "some_code", retryAfterMs: 7000 });
    expect(error.detail).toBe("words");
  });
});

test.each(Object.keys(calls) as OneShotOperation[])(
  "a 400 of %s ends nothing where a request exists already",
  async (operation) => {
    handler = answering({ code: "some_code", message: "words" }, 400);
    const error = await errorOf(calls[operation](accountAt(server.url), "r1"));
    const fails = ["create", "createToken", "sign"].includes(operation);
    expect([error.kind, error.effect]).toEqual(fails ? refused : protocol);
    expect(error.detail).toBe("words");
  },
);

test.each(once)("%s without an answer leaves the outcome unknown", async (operation) => {
  handler = (_, response) => void response.destroy();
  const error = await errorOf(calls[operation](accountAt(server.url), "r1"));
  expect([error.kind, error.effect]).toEqual(unknown);
});

test.each(uploads)("%s without an answer is looked up", async (operation) => {
  handler = (_, response) => void response.destroy();
  const error = await errorOf(calls[operation](accountAt(server.url), "r1"));
  expect([error.kind, error.effect]).toEqual(lookUp);
});

test("an error that is no object is shown as it came, in the hidden detail", async () => {
  handler = answering("<h1>No</h1>", 400);
  const error = await errorOf(calls.create(accountAt(server.url), "r1"));
  expect(error.message).toBe("one-shot-signature create: answered 400");
  expect(error.detail).toBe("<h1>No</h1>");
});

test("a code may be a number", async () => {
  handler = answering({ code: 17, message: "no" }, 400);
  expect((await errorOf(calls.create(accountAt(server.url), "r1"))).code).toBe("17");
});

describe("sign", () => {
  const codes = { wrongOtpCodes: ["7", "bad"], expiredOtpCodes: ["old"] };

  test.each([
    ["wrong", 400, "bad"],
    ["wrong", 422, 7],
    ["expired", 400, "old"],
    ["expired", 409, "old"],
    ["wrong", 500, "bad"],
  ])(
    "an OTP is %s by the account's own codes, whatever the status: %i",
    async (verdict, status, code) => {
      handler = answering({ code, message: "…" }, status);
      const account = accountAt(server.url, codes);
      const error = await errorOf(calls.sign(account, "r1"));
      expect(error).toMatchObject({ kind: "invalidRequest", effect: "none", status });
      expect(otpVerdict(account, error)).toBe(verdict);
    },
  );

  test("another refusal says nothing about the OTP", async () => {
    handler = answering({ code: "no_document" }, 400);
    const error = await errorOf(calls.sign(accountAt(server.url), "r1"));
    expect(error).toMatchObject({ kind: "invalidRequest", code: "no_document" });
    expect(otpVerdict(accountAt(server.url), error)).toBeUndefined();
    expect(otpVerdict(accountAt(server.url), {})).toBeUndefined();
  });

  test("an OTP code on another operation is an ordinary refusal", async () => {
    handler = answering({ code: "bad" }, 409);
    const error = await errorOf(calls.otp(accountAt(server.url, codes), "r1"));
    expect([error.kind, error.effect]).toEqual(unknown);
  });
});
