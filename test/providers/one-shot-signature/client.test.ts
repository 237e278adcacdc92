// What the one-shot client sends, and how it reads the answers of signing (P1 §4.4; shapes are assumed: not shown).
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { plainText } from "../../../src/contracts/shared/text.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import { otpVerdict } from "../../../src/providers/one-shot-signature/translate.js";
import { inMemory } from "../memory-keep.js";
import { errorOf } from "../evi-post/account.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { errorAt, meaningOf, unknown } from "../refusals.js";
import { accountAt, calls } from "./account.js";

const server = serverOfEachTest();

test("header, prefix and paths are the account's (P1 §5.4)", async () => {
  const uploadHash = "/v2/{request_pk}/hashes/{request_pk}";
  const paths = { ...accountAt(server.url).paths, uploadHash };
  const token = new Secret("t");
  const changes = { token, tokenHeader: "X-RA-Token", tokenPrefix: "", paths };
  await calls.uploadHash(accountAt(server.url, changes), "r1");
  expect(server.received[0]?.path).toBe("/v2/r1/hashes/r1");
  expect(server.received[0]?.headers).toMatchObject({ "x-ra-token": "t" });
  expect(server.received[0]?.headers.authorization).toBeUndefined();
});

describe("create", () => {
  test.each([
    ["a text", { request_pk: "r1", more: 1 }, "r1"],
    ["a number", { request_pk: 17 }, "17"],
  ])("request_pk may be %s", async (_, body, requestPk) => {
    server.answer = answering(body, 201);
    expect(await client.create(accountAt(server.url), {})).toEqual({ requestPk });
  });

  test.each([".", "..", "\ud800"])(
    "%j is no request_pk: no path can have it",
    async (requestPk) => {
      server.answer = answering({ request_pk: requestPk }, 201);
      const error = await errorOf(client.create(accountAt(server.url), {}));
      expect(error).toMatchObject({ kind: "unknownOutcome", member: "requestPk" });
    },
  );
});

describe("contract", () => {
  const bytes = Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.from([0, 255, 254])]);
  const html = Buffer.from("<p>terms</p>");
  test.each([
    ["application/pdf", bytes, "application/pdf"],
    ["Application/PDF; charset=binary", bytes, "application/pdf"],
    ["text/plain; charset=utf-8", html, "text/plain"],
    ["application/xml", Buffer.from("<contract/>"), "application/xml"],
    ["application/json", Buffer.from('{"terms":[]}'), "application/json"],
    ["", bytes, "application/pdf"],
    ["", html, "application/octet-stream"],
  ])("of the type %j is kept byte by byte", async (type, body, mediaType) => {
    server.answer = answering(body, 200, type === "" ? {} : { "content-type": type });
    const { file, ...shown } = await client.contract(accountAt(server.url), "r1", inMemory);
    expect(shown).toEqual({ mediaType });
    expect(await buffer(file.pieces())).toEqual(body);
  });

  test("an empty one is not there yet", async () => {
    server.answer = answering("");
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    expect(error).toMatchObject({ kind: "notVisibleYet", effect: "none" });
  });

  test.each([
    ["text/html; charset=utf-8", "<p>Log in</p>", "text/html instead of the contract"],
    ["", "\n<!DOCTYPE html><title>Log in</title>", "a web page instead of the contract"],
    ["application/octet-stream", "<HTML>", "a web page instead of the contract"],
    [
      "application/json",
      '{"code":"session","message":"log in"}',
      "an error instead of the contract",
    ],
    ["application/problem+json", '{"detail":"log in"}', "an error instead of the contract"],
  ])("of the type %j with %j is none, and is refused", async (type, body, problem) => {
    server.answer = answering(body, 200, type === "" ? {} : { "content-type": type });
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    const detail = plainText(body);
    expect(error).toMatchObject({ kind: "protocol", effect: "none", status: 200, detail });
    expect(error.message).toContain(problem);
  });

  test("a PDF that is none is refused", async () => {
    server.answer = answering(html, 200, { "content-type": "application/pdf" });
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
  });
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
