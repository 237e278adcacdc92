// What every status means for every operation (P1 §7.3 shows none: by effect class), and what is said about an OTP.
import { describe, expect, test } from "vitest";
import type { Operation } from "../../../src/providers/registry.js";
import { otpVerdict } from "../../../src/providers/one-shot-signature/translate.js";
import { answering } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import {
  away,
  denied,
  errorAt,
  invisible,
  limited,
  lookUp,
  meaningOf,
  protocol,
  refused,
  success,
  testRefusals,
  unknown,
} from "../refusals.js";
import { accountAt, calls } from "./account.js";

type OneShotOperation = Operation<"one-shot-signature">;

const tokens: OneShotOperation[] = ["listTokens"];
const questions: OneShotOperation[] = ["contract", "retrieve", "getVideo"];
const uploads: OneShotOperation[] = ["uploadDocument", "uploadHash"];
const deletions: OneShotOperation[] = ["deleteDocuments"];
const once = (Object.keys(calls) as OneShotOperation[]).filter(
  (operation) => ![...tokens, ...questions, ...uploads, ...deletions].includes(operation),
);

testRefusals<OneShotOperation>({
  call: (operation, url) => calls[operation](accountAt(url), "r1"),
  body: (code, message) => ({ code, message }),
  columns: [once, uploads, questions, tokens, deletions],
  table: [
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
  ],
  refusing: "create",
});

test.each(Object.keys(calls) as OneShotOperation[])(
  "a 400 of %s ends nothing where a request exists already",
  async (operation) => {
    const handler = answering({ code: "some_code", message: "words" }, 400);
    const error = await errorAt(handler, (url) => calls[operation](accountAt(url), "r1"));
    const fails = ["create", "createToken", "sign"].includes(operation);
    expect(meaningOf(error)).toBe(fails ? refused : protocol);
    expect(error.detail).toBe("words");
  },
);

const cut: Handler = (_, response) => void response.destroy();

test.each(once)("%s without an answer leaves the outcome unknown", async (operation) => {
  const error = await errorAt(cut, (url) => calls[operation](accountAt(url), "r1"));
  expect(meaningOf(error)).toBe(unknown);
});

test.each(uploads)("%s without an answer is looked up", async (operation) => {
  const error = await errorAt(cut, (url) => calls[operation](accountAt(url), "r1"));
  expect(meaningOf(error)).toBe(lookUp);
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
      const handler = answering({ code, message: "…" }, status);
      const error = await errorAt(handler, (url) => calls.sign(accountAt(url, codes), "r1"));
      expect(error).toMatchObject({ kind: "invalidRequest", effect: "none", status });
      expect(otpVerdict(codes, error)).toBe(verdict);
    },
  );

  test("another refusal says nothing about the OTP", async () => {
    const handler = answering({ code: "no_document" }, 400);
    const error = await errorAt(handler, (url) => calls.sign(accountAt(url), "r1"));
    expect(error).toMatchObject({ kind: "invalidRequest", code: "no_document" });
    expect(otpVerdict(accountAt("http://localhost"), error)).toBeUndefined();
    expect(otpVerdict(accountAt("http://localhost"), {})).toBeUndefined();
  });

  test("an OTP code on another operation is an ordinary refusal", async () => {
    const handler = answering({ code: "bad" }, 409);
    const error = await errorAt(handler, (url) => calls.otp(accountAt(url, codes), "r1"));
    expect(meaningOf(error)).toBe(unknown);
  });
});
