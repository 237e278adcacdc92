// What `affidavits --out` calls its files.
import { expect, test } from "@jest/globals";
import { namedAffidavits } from "../../../src/cli/upkeep/documents.js";

const affidavit = (uri: string, uniqueId?: string) => ({ document: { uri }, uniqueId });

test("a regenerated affidavit has a file beside the one whose id it reuses (docs/reading-the-specification.md §2)", () => {
  const names = namedAffidavits([
    affidavit("document:1", "a-1"),
    affidavit("document:2", "a-2"),
    affidavit("document:3", "a-1"),
  ]).map(([name]) => name);
  expect(names).toEqual(["affidavit-a-1", "affidavit-a-2", "affidavit-a-1-2"]);
});

test("an affidavit without an id is named by its document", () => {
  expect(namedAffidavits([affidavit("document:1")]).map(([name]) => name)).toEqual([
    "affidavit-document-1",
  ]);
});
