// Which affidavit answers which request; callbacks tie, they neither add nor remove (P2 §2.12, docs/reading-the-specification.md §2).
import { expect, test } from "vitest";
import fc from "fast-check";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { ProcessDocument } from "../../../src/contracts/shared/status.js";
import { document } from "../plans.js";
import { matchAffidavits } from "../../../src/workflows/shared/communication.js";

const ids = ["a", "b", "c", "d"];

function affidavit(uniqueId: string): ProcessDocument {
  const sha256 = Buffer.from(uniqueId).toString("hex").padEnd(64, "0");
  const own = { ...document, uri: `document:${sha256.slice(0, 32)}`, sha256 };
  return { kind: "affidavit", document: own, uniqueId };
}

function published(id: string, requestId?: string): ProviderEvent {
  const at = "2026-05-01T00:00:00.000Z";
  const tie = requestId === undefined ? {} : { requestId };
  return { id: `event-${id}`, kind: "AffidavitPublished", at, affidavit: { id, ...tie } };
}

const keysOf = (documents: ProcessDocument[]) =>
  documents.map(({ uniqueId, document }) => `${uniqueId} ${document.sha256}`);

test("no loss, order, doubling or forgery of callbacks changes which affidavits there are", () => {
  const anyEvent = fc
    .tuple(
      fc.constantFrom(...ids, "forged"),
      fc.option(fc.constantFrom("r1", "r2", "r3"), { nil: undefined }),
    )
    .map(([id, requestId]) => published(id, requestId));
  const anyRequests = fc.subarray([
    { requestId: "r1", before: 0 },
    { requestId: "r2", before: 2 },
  ]);
  fc.assert(
    fc.property(fc.subarray(ids), fc.array(anyEvent), anyRequests, (found, events, requests) => {
      const documents = found.map((id) => affidavit(id));
      expect(keysOf(matchAffidavits(documents, events, requests))).toEqual(keysOf(documents));
    }),
  );
});

const byCallback = { requestId: "r1", tiedBy: "callback" };
const regenerated = { ...published("a"), id: "event-a-again" };
const waiting = (before: number, requestId = "r1") => ({ requestId, before });

test.each<[string, string[], ProviderEvent[], { requestId: string; before: number }[], object[]]>([
  [
    "a callback's RequestId ties its affidavit",
    ["a", "b"],
    [published("b", "r1")],
    [waiting(1)],
    [{}, byCallback],
  ],
  [
    "its ids come in any case",
    ["a"],
    [published("A", "R1")],
    [waiting(0)],
    [{ ...byCallback, requestId: "R1" }],
  ],
  [
    "one that only a query found is inferred to answer the one request that waits",
    ["a", "b"],
    [],
    [waiting(1)],
    [{}, { requestId: "r1", tiedBy: "inferred" }],
  ],
  [
    "with two requests waiting nothing is inferred",
    ["a"],
    [],
    [waiting(0), waiting(0, "r2")],
    [{}],
  ],
  [
    "an affidavit whose callback names no request is an ordinary one",
    ["a"],
    [published("a")],
    [waiting(0)],
    [{}],
  ],
  [
    "a callback with the RequestId ties, where one without came after it",
    ["a"],
    [published("a", "r1"), regenerated],
    [waiting(0)],
    [byCallback],
  ],
  [
    "a callback with the RequestId ties, where one without came before it",
    ["a"],
    [regenerated, published("a", "r1")],
    [waiting(0)],
    [byCallback],
  ],
])("%s", (_, ids, events, requests, ties) => {
  const documents = ids.map((id) => affidavit(id));
  expect(matchAffidavits(documents, events, requests)).toEqual(
    documents.map((document, index) => ({ ...document, ...ties[index] })),
  );
});
