// The names in the archive of affidavits stay in their folders, and no file replaces another one when they are unpacked.
import { expect, test } from "vitest";
import { folderOf, uniqueNames } from "../../../src/activities/evi-notice-batch/archive.js";

test.each(["../../etc", "..", "a/b", String.raw`a\b`, "", "a\u0000b", "x".repeat(200), "C:"])(
  "the id %j is no part of a path",
  (evidenceId) => {
    expect(folderOf({ evidenceId, line: 12 })).toMatch(/^12-[0-9a-f]{32}$/);
    expect(folderOf({ evidenceId })).not.toBe(folderOf({ evidenceId: `${evidenceId}1` }));
  },
);

test("a folder shows the line and the id", () => {
  expect(folderOf({ evidenceId: "EV-1_a", line: 7 })).toBe("7-EV-1_a");
  expect(folderOf({ evidenceId: "EV-1" })).toBe("EV-1");
});

test("a name that is taken gets a number, also where the number makes it another one that is taken", () => {
  expect(uniqueNames(["a.pdf", "2-a.pdf", "a.pdf", "A.PDF", "a.pdf"])).toEqual([
    "a.pdf",
    "2-a.pdf",
    "3-a.pdf",
    "4-A.PDF",
    "5-a.pdf",
  ]);
});
