// What a process keeps of documents: each version of each one, however alike they are (docs/reading-the-specification.md §2; P1 §1.4).
import { expect, test } from "@jest/globals";
import type { ProcessDocument } from "../../../src/contracts/shared/status.js";
import { EventLog } from "../../../src/workflows/runtime/event-log.js";
import type { View } from "../../../src/workflows/runtime/event-log.js";
import { plainView } from "../../../src/workflows/runtime/plain-view.js";

function documentOf(sha256: string, more: Partial<ProcessDocument> = {}): ProcessDocument {
  const uri = `document:${more.uniqueId ?? more.description}-${sha256}`;
  const document = { uri, sha256, size: 1, mediaType: "application/pdf" };
  return { kind: "signed", document, ...more };
}

test.each<[string, ProcessDocument[], number]>([
  [
    "two documents with the same content and different names",
    [documentOf("a", { description: "one.pdf" }), documentOf("a", { description: "two.pdf" })],
    2,
  ],
  [
    "two affidavits with the same bytes and different ids",
    [documentOf("a", { uniqueId: "1" }), documentOf("a", { uniqueId: "2" })],
    2,
  ],
  [
    "an affidavit that is published again with other bytes",
    [documentOf("a", { uniqueId: "1" }), documentOf("b", { uniqueId: "1" })],
    2,
  ],
  [
    "the same affidavit, fetched again with another description",
    [
      documentOf("a", { uniqueId: "1", description: "first" }),
      documentOf("a", { uniqueId: "1", description: "second" }),
    ],
    1,
  ],
  [
    "the same document, fetched again",
    [documentOf("a", { description: "one.pdf" }), documentOf("a", { description: "one.pdf" })],
    1,
  ],
])("of %s as many are kept as there are", (_, documents, count) => {
  const log = new EventLog<never, View>(plainView, () => undefined);
  for (const document of documents) log.addDocuments([document]);
  expect(log.documents.size).toBe(count);
});
