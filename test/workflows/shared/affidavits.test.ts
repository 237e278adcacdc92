// Which affidavit answers which request; callbacks tie, they neither add nor remove (P2 §2.12, docs/reading-the-specification.md §2).
import { expect, test } from "vitest";
import fc from "fast-check";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { ProcessDocument } from "../../../src/contracts/shared/status.js";
import { matchAffidavits } from "../../../src/workflows/shared/affidavits.js";

const ids = ["a", "b", "c", "d"];

function affidavit(uniqueId: string, content = uniqueId): ProcessDocument {
  const sha256 = Buffer.from(content).toString("hex").padEnd(64, "0");
  const document = {
    uri: `document:${sha256.slice(0, 32)}`,
    sha256,
    size: 1,
    mediaType: "application/pdf",
  };
  return { kind: "affidavit", document, uniqueId };
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

test("a callback's RequestId ties its affidavit", () => {
  const documents = [affidavit("a"), affidavit("b")];
  const tied = matchAffidavits(documents, [published("b", "r1")], [{ requestId: "r1", before: 1 }]);
  expect(tied[0]).toEqual(documents[0]);
  expect(tied[1]).toMatchObject({ uniqueId: "b", requestId: "r1", tiedBy: "callback" });
});

test("its ids come in any case", () => {
  const tied = matchAffidavits(
    [affidavit("a")],
    [published("A", "R1")],
    [{ requestId: "r1", before: 0 }],
  );
  expect(tied[0]).toMatchObject({ uniqueId: "a", requestId: "R1", tiedBy: "callback" });
});

test("one that only a query found is inferred to answer the one request that waits", () => {
  const tied = matchAffidavits(
    [affidavit("a"), affidavit("b")],
    [],
    [{ requestId: "r1", before: 1 }],
  );
  expect(tied[0]?.requestId).toBeUndefined();
  expect(tied[1]).toMatchObject({ requestId: "r1", tiedBy: "inferred" });
});

test("with two requests waiting nothing is inferred", () => {
  const requests = [
    { requestId: "r1", before: 0 },
    { requestId: "r2", before: 0 },
  ];
  const tied = matchAffidavits([affidavit("a")], [], requests);
  expect(tied).toEqual([affidavit("a")]);
});

test("an affidavit whose callback names no request is an ordinary one", () => {
  const tied = matchAffidavits(
    [affidavit("a")],
    [published("a")],
    [{ requestId: "r1", before: 0 }],
  );
  expect(tied).toEqual([affidavit("a")]);
});

test("a callback with the RequestId ties, whether one without came before or after it", () => {
  const told = published("a", "r1");
  const regenerated = { ...published("a"), id: "event-a-again" };
  const requests = [{ requestId: "r1", before: 0 }];
  const [first] = matchAffidavits([affidavit("a")], [told, regenerated], requests);
  const [second] = matchAffidavits([affidavit("a")], [regenerated, told], requests);
  expect(first).toMatchObject({ requestId: "r1", tiedBy: "callback" });
  expect(second).toEqual(first);
});
