// What the tests of the clean-up share.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { documentIdOf } from "../../src/documents/document-id.js";

/** Changes the last byte of a document in the store's folder. */
export async function damage(folder: string, uri: string): Promise<void> {
  const id = documentIdOf(uri);
  const path = join(folder, id.slice(0, 2), id);
  const bytes = await readFile(path);
  bytes[bytes.length - 1]! ^= 1;
  await writeFile(path, bytes);
}

/** As the configuration has it by default. */
export const retention = {
  inboxDays: 90,
  parkedDays: 365,
  journalDays: 400,
  documentOrphanDays: 30,
  quarantineDays: 14,
  documents: {},
  batchSize: 1_000,
};
