import { expect, test } from "vitest";
import { nearestOf, suggestionFor } from "../../src/contracts/shared/nearest.js";

const known = ["sendPostal", "issueCertificate", "sendMessage"];

test.each([
  ["sendPostl", "sendPostal"],
  ["sendpostal", "sendPostal"],
  ["sendPsotal", "sendPostal"],
  ["issueCertificates", "issueCertificate"],
  ["x", undefined],
  ["", undefined],
  ["parcel", undefined],
])("%s is nearest to %s", (given, nearest) => {
  expect(nearestOf(given, known)).toBe(nearest);
});

test("what is known is named, with a question where one of it is near", () => {
  const all = "known: sendPostal, issueCertificate, sendMessage";
  expect(suggestionFor("sendPostl", known)).toBe(`did you mean sendPostal (${all})?`);
  expect(suggestionFor("parcel", known)).toBe(all);
});
