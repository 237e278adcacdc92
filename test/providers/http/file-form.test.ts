// A multipart body of files: sent from where the bytes lie, read back by a parser that is not ours.
import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { fileForm } from "../../../src/providers/http/file-form.js";
import { exchange } from "../../../src/providers/http/exchange.js";
import { answering, filesOf, startProviderServer } from "../provider-server.js";

const file = { name: "a.pdf", mediaType: "application/pdf" };

test("the bytes are streamed from where they lie: nothing copies them", async () => {
  const bytes = Buffer.from(new ArrayBuffer(300_000), 1_000, 200_001);
  const [given] = fileForm("file", [{ ...file, bytes }]).values();
  if (!(given instanceof File)) throw new Error("no file");
  let size = 0;
  for await (const piece of given.stream()) {
    expect(piece.buffer).toBe(bytes.buffer);
    expect(piece.byteOffset).toBe(1_000 + size);
    size += piece.byteLength;
  }
  expect(size).toBe(200_001);
});

test.each([0, 1, 65_535, 65_536, 65_537, 3_000_017])(
  "a file of %i bytes that lies inside a larger buffer arrives as it is",
  async (size) => {
    const bytes = Buffer.concat([Buffer.from("before"), randomBytes(size), Buffer.from("after")]);
    const server = await startProviderServer(answering(""));
    await exchange({
      provider: "one-shot-signature",
      operation: "uploadDocument",
      effectClass: "lookup",
      method: "POST",
      url: new URL(server.url),
      headers: {},
      body: fileForm("file", [{ ...file, bytes: bytes.subarray(6, 6 + size) }]),
      timeoutMs: 5_000,
    });
    await server.close();
    const [received] = server.received;
    expect(received?.headers["content-length"]).toBe(String(received?.bytes.length));
    const [arrived] = await filesOf(received!);
    expect(arrived).toMatchObject({ part: "file", ...file });
    expect(arrived?.content.equals(bytes.subarray(6, 6 + size))).toBe(true);
  },
);
