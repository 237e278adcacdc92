// What `affidavits --out` saves, and what it calls its files.
import { expect, test } from "@jest/globals";
import { namedAffidavits } from "../../../src/cli/upkeep/documents.js";

const reference = (uri: string) => {
  return { uri, sha256: "a".repeat(64), size: 1, mediaType: "application/pdf" };
};
const affidavit = (uri: string, uniqueId?: string) => {
  return { kind: "affidavit" as const, document: reference(uri), ...(uniqueId && { uniqueId }) };
};
const namesOf = (...documents: ReturnType<typeof affidavit>[]) =>
  namedAffidavits({ id: "order-7", documents }).map(([name]) => name);

test("a regenerated affidavit has a file beside the one whose id it reuses (docs/reading-the-specification.md §2)", () => {
  const all = [
    affidavit("document:1", "a-1"),
    affidavit("document:2", "a-2"),
    affidavit("document:3", "a-1"),
  ];
  expect(namesOf(...all)).toEqual(["affidavit-a-1", "affidavit-a-2", "affidavit-a-1-2"]);
});

test("an affidavit without an id is named by its document", () => {
  expect(namesOf(affidavit("document:1"))).toEqual(["affidavit-document-1"]);
});

test("the affidavits of a batch are its archive, and no other document of it", () => {
  const list = { kind: "submitted" as const, document: reference("document:1") };
  const archive = { ...reference("document:2"), mediaType: "application/zip" };
  const batch = { id: "campaign-7", documents: [list] };
  expect(namedAffidavits({ ...batch, archive })).toEqual([["affidavits-campaign-7", archive]]);
  expect(namedAffidavits(batch)).toEqual([]);
});
