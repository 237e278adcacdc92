// What the fixtures do not say about the postal client.
import { describe, expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory } from "../memory-keep.js";
import { serverOfEachTest } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import { accountAt, errorOf, submission } from "./account.js";

const id = "0b6f3a52-7c1d-4f7e-9a55-1f0c6c1d2e3f";
const other = "5f2c9f0e-2f64-4a3b-8c0d-8f6c3a1b7d21";
const answering =
  (body: unknown, status = 200): Handler =>
  (_, response) =>
    void response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));

const server = serverOfEachTest();
const sent = () => JSON.parse(server.received[0]?.text ?? "null");

describe("submit", () => {
  test("a secret is revealed in the body alone (P2 §2.3)", async () => {
    server.answer = answering({ uniqueId: id });
    const options = { evidenceAccessControlChallengeResponse: new Secret("blue") };
    await client.submit(accountAt(server.url), { ...submission, options }, "t");
    expect(sent().Options).toEqual({ EvidenceAccessControlChallengeResponse: "blue" });
    expect(JSON.stringify(options)).not.toContain("blue");
  });

  test("undefined members and unknown members are not sent", async () => {
    server.answer = answering({ uniqueId: id });
    const input = {
      ...submission,
      issuerName: undefined,
      options: { language: undefined },
      surprise: 1,
    };
    await client.submit(accountAt(server.url), input, "t");
    expect(Object.keys(sent())).toEqual(["Document", "RecipientAddress", "Options"]);
    expect(sent().Options).toEqual({});
  });

  test("credentials travel as UTF-8 (P2 §5)", async () => {
    server.answer = answering({ uniqueId: id });
    await client.submit(accountAt(server.url, { password: new Secret("pä:ss") }), submission, "t");
    const basic = server.received[0]?.headers.authorization?.replace("Basic ", "") ?? "";
    expect(Buffer.from(basic, "base64").toString("utf8")).toBe("trustflow:pä:ss");
  });

  test.each([
    ["an id of another case", { UniqueId: id }],
    ["an id in a text", `"accepted as ${id.toUpperCase()}"`],
    ["an answer cut by a proxy", `{"uniqueId":"${id}"`],
  ])("a broken 200 that shows %s keeps it", async (_, body) => {
    server.answer = answering(body);
    const error = await errorOf(client.submit(accountAt(server.url), submission, "t"));
    expect(error).toMatchObject({ kind: "unavailable", effect: "unknown", reference: id });
  });

  test("a broken 200 that shows two ids keeps neither: the provider is asked", async () => {
    server.answer = answering({ a: id, b: other });
    const error = await errorOf(client.submit(accountAt(server.url), submission, "t"));
    expect(error).toMatchObject({ kind: "unavailable", effect: "unknown" });
    expect(error.reference).toBeUndefined();
  });
});

describe("query", () => {
  test.each([{ uniqueIds: [] }, { lookupKeys: [] }])("%j makes no call", async (asked) => {
    expect(await client.query(accountAt(server.url), asked)).toEqual({
      results: [],
      totalMatches: 0,
    });
    expect(server.received).toEqual([]);
  });

  test.each(["a,b", ""])("the key %j cannot be queried, and is not", async (key) => {
    const error = await errorOf(client.query(accountAt(server.url), { lookupKeys: [key] }));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
    expect(server.received).toEqual([]);
  });

  test("members that P2 §2.5 does not name are kept", async () => {
    server.answer = answering({
      results: [{ evidenceId: id, state: "Sent", carrier: { a: 1 } }],
      totalMatches: 1,
    });
    const { results } = await client.query(accountAt(server.url), { uniqueIds: [id] });
    expect(results).toEqual([
      { evidenceId: id, state: "Sent", providerFields: { carrier: { a: 1 } } },
    ]);
  });

  test("an unreadable date or number is not said, the rest is", async () => {
    const item = {
      evidenceId: id,
      state: "Sent",
      sentOn: "soon",
      creationDate: 5,
      timeToLive: "x",
      address: 7,
    };
    server.answer = answering({ results: [item], totalMatches: 1 });
    const { results } = await client.query(accountAt(server.url), { uniqueIds: [id] });
    expect(results).toEqual([{ evidenceId: id, state: "Sent" }]);
  });

  test.each([
    ["an item without id", { results: [{ state: "Sent" }], totalMatches: 1 }],
    ["an item without state", { results: [{ evidenceId: id }], totalMatches: 1 }],
    [
      "a lookup key that is no text",
      { results: [{ evidenceId: id, state: "Sent", lookupKey: ["a"] }], totalMatches: 1 },
    ],
    [
      "an affidavit without id",
      { results: [{ evidenceId: id, state: "Sent", affidavits: [{}] }], totalMatches: 1 },
    ],
    ["results that are no list", { results: null, totalMatches: 0 }],
  ])("%s is never read as absent", async (_, body) => {
    server.answer = answering(body);
    const error = await errorOf(client.query(accountAt(server.url), { uniqueIds: [id] }));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
  });

  test.each([undefined, null, ""])("an affidavit with the bytes %j has none", async (bytes) => {
    const affidavits = [{ uniqueId: other, bytes }];
    const item = { evidenceId: id, state: "Closed", affidavits };
    server.answer = answering({ results: [item], totalMatches: 1 });
    const { results } = await client.query(accountAt(server.url), { uniqueIds: [id] });
    expect(results[0]?.affidavits).toEqual([{ uniqueId: other }]);
  });

  test("an embedded affidavit that is no PDF is refused", async () => {
    const affidavits = [{ uniqueId: other, bytes: Buffer.from("<html>").toString("base64") }];
    server.answer = answering({
      results: [{ evidenceId: id, state: "Closed", affidavits }],
      totalMatches: 1,
    });
    const asked = { uniqueIds: [id], includeBlobs: true };
    const error = await errorOf(client.query(accountAt(server.url), asked));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
    expect(server.received[0]?.query).toMatchObject({ IncludeAffidavitsOnResult: "true" });
  });

  test("an error names the field, and cuts the page of a proxy", async () => {
    server.answer = answering(`<html>${"x".repeat(5000)}</html>`, 502);
    const error = await errorOf(client.query(accountAt(server.url), { uniqueIds: [id] }));
    expect(error.message).toBe("evi-post query: answered 502");
    expect(Buffer.byteLength(error.detail ?? "")).toBe(500);
  });
});

describe("requestAffidavit", () => {
  test("the id that was sent is not taken for the request's", async () => {
    server.answer = answering({ uniqueId: id });
    const error = await errorOf(client.requestAffidavit(accountAt(server.url), { uniqueId: id }));
    expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown" });
    expect(error.reference).toBeUndefined();
  });
});

describe("downloadAffidavits", () => {
  test("no ids make no call", async () => {
    expect(await client.downloadAffidavits(accountAt(server.url), [], inMemory)).toEqual([]);
    expect(server.received).toEqual([]);
  });

  test("an account that reads blobs has no download", async () => {
    const account = accountAt(server.url, { affidavits: { mode: "blobs" } });
    const error = await errorOf(client.downloadAffidavits(account, [id], inMemory));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
    expect(server.received).toEqual([]);
  });
});

test("a refusal names its fields in the message", async () => {
  const errors = [{ errorCode: "NotEmpty", fieldName: "RecipientAddress.Region", message: "…" }];
  server.answer = answering(
    { responseStatus: { errorCode: "ValidationError", message: "…", errors } },
    400,
  );
  const error = await errorOf(client.submit(accountAt(server.url), submission, "t"));
  expect(error.message).toBe(
    "evi-post submit: answered 400 (ValidationError; RecipientAddress.Region NotEmpty)",
  );
});
