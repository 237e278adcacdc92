// What each of the two hosts is sent, and how the answers are read (P1 §2.10, §4.5; shapes are assumed: not shown).
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as client from "../../../src/providers/envelope-signature/client.js";
import { errorOf } from "../evi-post/account.js";
import { answering, filesOf, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, pdf } from "./account.js";

let handler: Handler;
let ca: ProviderServer;
let esign: ProviderServer;
beforeEach(async () => {
  handler = answering({});
  ca = await startProviderServer((...args) => handler(...args));
  esign = await startProviderServer((...args) => handler(...args));
});
afterEach(async () => {
  await ca.close();
  await esign.close();
});
const account = () => accountAt(ca.url, esign.url);
const unknown = { kind: "unknownOutcome", effect: "unknown" };

describe("esawoneshot", () => {
  const body = { req_pk: "q1", esaw_token: "tok", more: 1 };

  test("goes to the authority's host, untouched and without the API token (P1 §5.5)", async () => {
    handler = answering(body);
    const request = { reference: "i1", nested: { b: [1, null], a: "" } };
    const created = await client.esawoneshot(account(), request);
    expect(created).toEqual({ reqPk: "q1", esawToken: "tok" });
    expect(esign.received).toEqual([]);
    expect(ca.received).toHaveLength(1);
    expect(ca.received[0]).toMatchObject({ method: "POST", path: "/api/v1/esawoneshot" });
    expect(ca.received[0]?.text).toBe(JSON.stringify(request));
    expect(ca.received[0]?.headers["apitoken"]).toBeUndefined();
  });

  test("req_pk may be a number", async () => {
    handler = answering({ ...body, req_pk: 17 });
    expect(await client.esawoneshot(account(), {})).toMatchObject({ reqPk: "17" });
  });
});

describe("uploadFile", () => {
  test("sends one part to the envelope host with the API token", async () => {
    handler = answering({ FileId: "f1" });
    expect(await client.uploadFile(account(), pdf)).toEqual({ fileId: "f1" });
    expect(ca.received).toEqual([]);
    const [request] = esign.received;
    expect(request).toMatchObject({ method: "POST", path: "/Api/v6/file/upload" });
    expect(request?.headers["apitoken"]).toBe("api-token");
    const { bytes: content, ...file } = pdf;
    expect(await filesOf(request!)).toEqual([{ part: "File", ...file, content }]);
  });
});

describe("sendEnvelope", () => {
  const envelope = { Name: "Contract", Documents: "mine", Meta: { a: null } };
  const send = (fileIds: string[]) => {
    const documents = fileIds.map((fileId) => ({ fileId }));
    return client.sendEnvelope(account(), { documents, esawToken: "tok", envelope });
  };

  test("lists the documents in the order given, and one Sign activity with the token", async () => {
    handler = answering({ EnvelopeId: "e1", more: 1 });
    expect(await send(["f2", "f1"])).toEqual({ envelopeId: "e1" });
    expect(ca.received).toEqual([]);
    const [request] = esign.received;
    expect(request).toMatchObject({ method: "POST", path: "/Api/v6/envelope/send" });
    expect(request?.headers["apitoken"]).toBe("api-token");
    expect(JSON.parse(request!.text)).toEqual({
      Name: "Contract",
      Meta: { a: null },
      Documents: [
        { FileId: "f2", DocumentNumber: 1 },
        { FileId: "f1", DocumentNumber: 2 },
      ],
      Activities: [
        { Action: { Sign: { Type: "GenericSigningPluginAcmeOneShot", requestToken: "tok" } } },
      ],
    });
  });

  test("the caller's members of a document stand beside what is the client's", async () => {
    handler = answering({});
    const fields = { Name: "Annex", FileId: "mine", DocumentNumber: 7 };
    const documents = [{ fileId: "f1", fields }];
    await client.sendEnvelope(account(), { documents, esawToken: "tok", envelope: {} });
    expect(JSON.parse(esign.received[0]!.text).Documents).toEqual([
      { Name: "Annex", FileId: "f1", DocumentNumber: 1 },
    ]);
  });

  test.each([{}, { EnvelopeId: null }, ""])(
    "a 200 with %j says that it was sent, no more",
    async (body) => {
      handler = answering(body);
      expect(await send(["f1"])).toEqual({});
    },
  );

  test.each(["<h1>Sign in</h1>", [], "null", { EnvelopeId: "" }, { EnvelopeId: {} }])(
    "a 200 with %j does not even say that",
    async (body) => {
      handler = answering(body);
      expect(await errorOf(send(["f1"]))).toMatchObject(unknown);
    },
  );
});
