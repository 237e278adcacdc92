// The callback envelope beyond the postal fixtures: other services, forged and odd bodies (P2 §2.11, §2.12, §5).
import { expect, test } from "vitest";
import fc from "fast-check";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { MAX_EVENT_BYTES } from "../../../src/contracts/shared/provider-event.js";
import { parseEnvelope } from "../../../src/providers/evi/callback.js";

const envelope = {
  Identifier: "e1",
  Kind: "Delivered",
  Date: "2026-03-02T09:15:27Z",
  EvidenceId: "id",
};
const parse = (changes: object) =>
  parseEnvelope("evi-notice", ["eviNotice", "eviMail"], { ...envelope, ...changes });

test("every type that the address may carry is read, in whatever case", () => {
  for (const EvidenceType of ["eviNotice", "EVIMAIL", undefined, null, ""])
    expect(parse({ EvidenceType }).event.id).toBe("e1");
  for (const EvidenceType of ["eviPost", "eviSMS", "eviSign"])
    expect(() => parse({ EvidenceType })).toThrow("EvidenceType");
});

test("EvidenceState counts where AdditionalData names no state (P2 §2.11)", () => {
  expect(parse({ EvidenceState: "Sent" }).event.state).toBe("Sent");
  const AdditionalData = { State: "Closed" };
  expect(parse({ EvidenceState: "Sent", AdditionalData }).event.state).toBe("Closed");
});

test("the action of a reply stands before its comment (P2 §2.12)", () => {
  const AdditionalData = { Kind: "Rejected", Comments: " not\n mine " };
  expect(parse({ Kind: "Replied", AdditionalData }).event.note).toBe("Rejected: not mine");
});

test("a description that is no text is shown as JSON", () => {
  expect(parse({ AdditionalData: { TransmissionDetails: { a: 1 } } }).event.note).toBe('{"a":1}');
});

const reader = {
  IpAddress: "2001:db8::1",
  BrowserData: { name: "Firefox", version: 128 },
  UserLanguages: "es,en",
  UserIdentity: "ana",
  UserAgent: "Mozilla/5.0",
};

test("what a callback says about the communication and its reader is kept (P2 §2.11, §2.12)", () => {
  const parties = { From: "us", To: "ana@example.com", Subject: "Your\n contract" };
  const AdditionalData = {
    ...{ ...parties, LookupKey: "k", CreationDate: "2026-03-02T10:00:00+01:00", Progress: 75 },
    ...reader,
  };
  const envelopeSays = { Site: "Madrid", Owner: null, OwnerEmail: "owner@example.com" };
  expect(parse({ ...envelopeSays, AdditionalData }).event.about).toEqual({
    ...{ site: "Madrid", ownerEmail: "owner@example.com" },
    ...{ from: "us", to: "ana@example.com", subject: "Your contract", lookupKey: "k" },
    ...{ creationDate: "2026-03-02T09:00:00.000Z", progress: 75 },
    ...{ ipAddress: "2001:db8::1", browserData: '{"name":"Firefox","version":128}' },
    ...{ userLanguages: "es,en", userIdentity: "ana", userAgent: "Mozilla/5.0" },
  });
});

test("what is empty, null or no date is not said", () => {
  const AdditionalData = { From: "", To: null, CreationDate: "yesterday", IpAddress: "\u202e" };
  expect(parse({ Site: " ", AdditionalData }).event.about).toBeUndefined();
});

test("a note is cut between characters, not inside one", () => {
  const note = parse({ AdditionalData: { Details: "😀".repeat(400) } }).event.note ?? "";
  expect(note).toMatch(/^(😀)+…$/u);
  expect(Buffer.byteLength(note)).toBe(4 * 74 + 3);
});

/** In JSON each of them takes six bytes, or two, where it is taken over. */
const worst = ["\u0001", "\ud800", "\u202e", '"', "\\", "😀", "あ"];

const aboutMembers = [
  ...["Sender", "Recipient", "From", "To", "Source", "Destination", "Subject", "LookupKey"],
  ...["Progress", ...Object.keys(reader)],
];

test.each(worst)("an event whose texts are all %j takes few bytes", (character) => {
  const long = character.repeat(500);
  const word = `w${character.repeat(99)}`;
  const AdditionalData = {
    ...{ State: word, Outcome: word, Details: long, Comments: long, Description: long },
    ...{ AffidavitId: `i${character.repeat(199)}`, AffidavitName: long, AffidavitKind: word },
    RequestId: `i${character.repeat(199)}`,
    ...Object.fromEntries(aboutMembers.map((member) => [member, long])),
  };
  const Identifier = character.repeat(200);
  const envelopeSays = { Site: long, Owner: long, OwnerEmail: long };
  for (const Kind of [word, "AffidavitPublished"]) {
    const given = { Identifier, Kind, EvidenceId: Identifier, ...envelopeSays };
    const { event } = parse({ ...given, AdditionalData });
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(MAX_EVENT_BYTES);
    expect(JSON.stringify(event)).not.toMatch(/\\u|\u202e/);
  }
});

test("an identifier that cannot stand in an id is known by its digest, the same each time", () => {
  const odd = ["\u0001", "\u0002", "é", "x".repeat(201)].map(
    (id) => parse({ Identifier: id }).event.id,
  );
  expect(new Set(odd).size).toBe(4);
  for (const id of odd) expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(parse({ Identifier: "é" }).event.id).toBe(odd[2]);
});

test("an affidavit and its request may be numbers", () => {
  const AdditionalData = { AffidavitId: 7, RequestId: 12 };
  const { event } = parse({ Kind: "AffidavitPublished", AdditionalData });
  expect(event.affidavit).toEqual({ id: "7", requestId: "12" });
});

test("a kind of control characters alone is none", () => {
  expect(() => parse({ Kind: "\u0000\u0001" })).toThrow("Kind");
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
  for (const other of [[], "", 7, null])
    expect(parse({ EvidenceState: "Sent", AdditionalData: other }).event.state).toBe("Sent");
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
