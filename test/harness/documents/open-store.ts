// A document store in a folder of its own, and documents that cannot be used.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";

export type OpenStore = Awaited<ReturnType<typeof openStore>>;

export async function openStore(ring = KeyRing.parse(generateKeyRing())) {
  const directory = await mkdtemp(join(tmpdir(), "documents-"));
  const documents = new DocumentStore(new DirectoryDriver(directory), ring);
  return { directory, documents, close: () => rm(directory, { recursive: true }) };
}

/** In no store. */
export const absentPdf = {
  uri: `document:${"0".repeat(32)}`,
  sha256: "0".repeat(64),
  size: 1,
  mediaType: "application/pdf",
};
export const noPdf = { base64: "bm8gUERG", mediaType: "application/pdf" };
