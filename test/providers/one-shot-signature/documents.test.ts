// Uploads as multipart/form-data, and what the look-up makes of its answers (P1 §1.4, §4.4; shapes are assumed: not shown).
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import { errorOf } from "../evi-post/account.js";
import { answering, filesOf, serverOfEachTest, startProviderServer } from "../provider-server.js";
import { accountAt, pdf } from "./account.js";

const server = serverOfEachTest();

const hex = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");

describe("an upload", () => {
  test("is one part with its name, its type and its bytes, and says its length", async () => {
    const bytes = randomBytes(3_000_017);
    await client.uploadDocument(accountAt(server.url), { requestPk: "r1", ...pdf, bytes });
    const [request] = server.received;
    expect(request).toMatchObject({ method: "POST", path: "/oneshot/api/v1/document/r1" });
    expect(request?.headers).toMatchObject({
      authorization: "Token ra-operator",
      "content-length": String(request?.bytes.length),
      "content-type": expect.stringMatching(/^multipart\/form-data; boundary=/),
    });
    const [file, ...more] = await filesOf(request!);
    expect(more).toEqual([]);
    expect(file).toMatchObject({ part: "file", name: "a.pdf", mediaType: "application/pdf" });
    expect(file?.content.equals(bytes)).toBe(true);
  });

  test("with a name that could end its line stays one part", async () => {
    const name = 'a"\r\nContent-Type: text/html\r\n\r\n.pdf';
    await client.uploadDocument(accountAt(server.url), { requestPk: "r1", ...pdf, name });
    expect(server.received[0]?.text).toContain('filename="a%22%0D%0AContent-Type: text/html');
    expect(await filesOf(server.received[0]!)).toHaveLength(1);
  });

  test("of evidences has a part for each, in their order; a video has one", async () => {
    const files = [
      { name: "front.jpg", bytes: Buffer.from([255, 216, 255]), mediaType: "image/jpeg" },
      { name: "back.png", bytes: Buffer.from("png"), mediaType: "image/png" },
    ];
    const account = accountAt(server.url);
    await client.uploadEvidences(account, { requestPk: "r1", files });
    const received = (await filesOf(server.received[0]!)).map(({ content, ...file }) => ({
      ...file,
      bytes: content,
    }));
    expect(received).toEqual(files.map((file) => ({ ...file, part: "file" })));
    const video = { name: "v.mp4", bytes: Buffer.from("mp4"), mediaType: "video/mp4" };
    await client.uploadVideo(account, { requestPk: "r1", ...video });
    expect(await filesOf(server.received[1]!)).toMatchObject([{ name: "v.mp4" }]);
    expect(server.received.map(({ path }) => path)).toEqual([
      "/oneshot/api/v1/identity-video/r1/evidences",
      "/oneshot/api/v1/identity-video/r1/video",
    ]);
  });

  test("that the provider cuts off in the middle may have arrived", async () => {
    const cut = await startProviderServer(() => undefined, { cutAfterBytes: 100_000 });
    const bytes = Buffer.alloc(20_000_000);
    const call = client.uploadDocument(accountAt(cut.url), { requestPk: "r1", ...pdf, bytes });
    expect(await errorOf(call)).toMatchObject({ kind: "unavailable", effect: "unknown" });
    await cut.close();
  });
});

describe("retrieve", () => {
  const signed = Buffer.from("%PDF-1.7 signed");
  const document = { name: "a.pdf", sha256: hex("a"), signed: signed.toString("base64") };
  const retrieve = () => client.retrieve(accountAt(server.url), "r1");

  test("shows what was uploaded and what was signed", async () => {
    const signedSha256 = hex(signed);
    const documents = [
      { ...document, sha256: hex("a").toUpperCase(), signedSha256, more: 1 },
      { name: "b.pdf", sha256: null, signed: null },
    ];
    server.answer = answering({ request_pk: "r1", state: "signed", documents });
    expect(await retrieve()).toEqual({
      state: "signed",
      documents: [{ name: "a.pdf", sha256: hex("a"), signed, signedSha256 }, { name: "b.pdf" }],
    });
  });

  test.each([
    ["in lines", "+/+/\r\nQQ==\n"],
    ["for URLs, without its padding", "-_-_QQ"],
  ])("takes base64 %s", async (_, base64) => {
    server.answer = answering({ state: "s", documents: [{ name: "a.pdf", signed: base64 }] });
    const bytes = Buffer.from("fbffbf41", "hex");
    expect((await retrieve()).documents).toEqual([{ name: "a.pdf", signed: bytes }]);
  });

  test("a state of tomorrow is passed on", async () => {
    server.answer = answering({ state: "archived", documents: [] });
    expect(await retrieve()).toEqual({ state: "archived", documents: [] });
  });

  test.each([
    ["is about another request", { request_pk: "r2", state: "signed", documents: [] }],
    ["has no state", { documents: [] }],
    ["has no documents", { state: "created" }],
    ["has a document without a name", { state: "created", documents: [{ sha256: hex("a") }] }],
    ["has a digest that is none", { state: "s", documents: [{ name: "a", sha256: "abc" }] }],
    ["has no base64", { state: "signed", documents: [{ name: "a", signed: "%%%" }] }],
    ["has cut base64", { state: "signed", documents: [{ name: "a", signed: "QUJDR" }] }],
    [
      "disagrees with its own digest",
      { state: "signed", documents: [{ ...document, signedSha256: hex("other") }] },
    ],
  ])("an answer that %s is protocol, never an absence", async (_, body) => {
    server.answer = answering(body);
    expect(await errorOf(retrieve())).toMatchObject({ kind: "protocol", effect: "none" });
  });

  test("without a path makes no call", async () => {
    const paths = { ...accountAt(server.url).paths, retrieve: undefined };
    const account = accountAt(server.url, { paths });
    const error = await errorOf(client.retrieve(account, "r1"));
    expect(error).toMatchObject({ kind: "protocol", effect: "none", operation: "retrieve" });
    expect(server.received).toEqual([]);
  });
});
