// The callback envelope beyond the postal fixtures: other services, forged and odd bodies (P2 §2.11, §2.12, §5).
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ProviderEvent } from "../../src/contracts/provider-event.js";
import { ProviderError } from "../../src/providers/errors.js";
import { parseEnvelope } from "../../src/providers/evi-callback.js";

const envelope = {
  Identifier: "e1",
  Kind: "Delivered",
  Date: "2026-03-02T09:15:27Z",
  EvidenceId: "id",
};
const parse = (changes: object) =>
  parseEnvelope("evi-notice", ["eviNotice", "eviMail"], { ...envelope, ...changes });

test("every type that the address may carry is read, in whatever case", () => {
  for (const EvidenceType of ["eviNotice", "EVIMAIL", undefined, null])
    expect(parse({ EvidenceType }).event.id).toBe("e1");
  expect(() => parse({ EvidenceType: "eviPost" })).toThrow("EvidenceType");
});

test("the action of a reply stands before its comment (P2 §2.12)", () => {
  const AdditionalData = { Kind: "Rejected", Comments: " not\n mine " };
  expect(parse({ Kind: "Replied", AdditionalData }).event.note).toBe("Rejected: not mine");
});

test("a description that is no text is shown as JSON", () => {
  expect(parse({ AdditionalData: { TransmissionDetails: { a: 1 } } }).event.note).toBe('{"a":1}');
});

test("a note is cut between characters, not inside one", () => {
  const note = parse({ AdditionalData: { Details: "😀".repeat(400) } }).event.note ?? "";
  expect(Array.from(note)).toHaveLength(300);
  expect(Buffer.from(note).toString()).toBe(note);
});

test.each([true, "true", "True"])("Regenerated %j marks the affidavit", (Regenerated) => {
  const AdditionalData = { AffidavitId: "a", Regenerated };
  const { event } = parse({ Kind: "AffidavitPublished", AdditionalData });
  expect(event.affidavit).toEqual({ id: "a", regenerated: true });
});

test("an affidavit id on another kind of event is no publication", () => {
  expect(parse({ AdditionalData: { AffidavitId: "a" } }).event.affidavit).toBeUndefined();
});

test("members of a wrong type are not said", () => {
  const AdditionalData = { State: 7, Outcome: {}, ExtraData: ["x"], AffidavitName: 1 };
  const { event, correlation } = parse({ EvidenceId: 5, EvidenceState: 3, AdditionalData });
  expect(event).toEqual({ id: "e1", kind: "Delivered", at: "2026-03-02T09:15:27.000Z" });
  expect(correlation).toBeUndefined();
});

test("an identity that is endless is refused", () => {
  expect(() => parse({ Identifier: "x".repeat(501) })).toThrow("Identifier");
});

test("any JSON is an event of the contract or a ProviderError, nothing else", () => {
  const member = fc.constantFrom(
    ...Object.keys(envelope),
    "AdditionalData",
    "EvidenceType",
    "State",
    "__proto__",
  );
  const anything = fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue()));
  fc.assert(
    fc.property(anything, fc.boolean(), (value, wrapped) => {
      const body = wrapped ? { ...envelope, ...(value as object), AdditionalData: value } : value;
      try {
        const { event } = parseEnvelope("evi-post", ["eviPost"], body);
        ProviderEvent.parse(event);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
      }
    }),
  );
});
