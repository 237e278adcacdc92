// The matcher, and that the fixtures are what their README says.
import { expect, test } from "@jest/globals";
import { fill, loadFixtures, matches, samplePdf } from "./fixtures.js";

const fixtures = loadFixtures("test/fixtures/evi-post");
const id = "0c9f1a52-6f0b-4d0e-9c3a-2f1b7a8e4d10";
const otherId = "7b1d2c3e-6f0b-4d0e-9c3a-2f1b7a8e4d10";

test.each(fixtures.map((fixture) => [fixture.file, fixture] as const))(
  "%s is well formed and matches itself when filled",
  (file, fixture) => {
    const values = {};
    const filled = fill(fixture, values);
    expect(matches(fixture, filled, { values })).toEqual([]);
    expect(JSON.stringify(filled)).not.toContain("{{");
    expect(file.startsWith(`p2-${/^P2 §([\d.]+)/.exec(fixture.section)?.[1]}-`)).toBe(true);
    if (fixture["operation"] === undefined) {
      expect(fixture["unreadable"] === true).toBe(fixture["event"] === undefined);
    } else if (fixture["side"] !== "sandbox") {
      expect(fixture["call"]).toBeDefined();
      expect(fixture["result"] === undefined).toBe(fixture["error"] !== undefined);
    }
  },
);

const ofPart1 = [
  "disposable-certificate",
  "messaging-gateway",
  "one-shot-signature",
  "envelope-signature",
].flatMap((folder) => loadFixtures(`test/fixtures/${folder}`));

test.each(ofPart1.map((fixture) => [fixture.file, fixture] as const))(
  "%s says whose fact it is, and matches itself when filled",
  (file, fixture) => {
    const values = {};
    expect(matches(fixture, fill(fixture, values), { values })).toEqual([]);
    expect(file.startsWith(`p1-${/^P1 §([\d.]+)/.exec(fixture.section)?.[1]}-`)).toBe(true);
    if (fixture["response"]) expect(file).toContain(`-${fixture["response"].status}`);
    expect(fixture["title"]).toBeTruthy();
  },
);

test("one name stands for one value", () => {
  const expected = { a: "{{uuid:x}}", b: ["{{uuid:x}},{{uuid:y}}"] };
  expect(matches(expected, { a: id, b: [`${id},${otherId}`] })).toEqual([]);
  expect(matches(expected, { a: id, b: [`${otherId},${id}`] })).toHaveLength(1);
});

test("given values must be met, and new ones are kept", () => {
  const values = { x: id };
  expect(matches("{{uuid:x}}", otherId, { values })).toHaveLength(1);
  expect(matches("{{uuid:y}}", otherId, { values })).toEqual([]);
  expect(values).toEqual({ x: id, y: otherId });
});

test("an optional value may be null or absent, another may not", () => {
  expect(matches({ a: "{{datetime?}}", b: "{{datetime?}}" }, { a: null })).toEqual([]);
  expect(matches({ a: "{{datetime}}" }, {})).toEqual(["$.a: expected {{datetime}}, got nothing"]);
});

test("a member that nobody expects is a difference unless extra members are allowed", () => {
  expect(matches({ a: 1 }, { a: 1, b: 2 })).toEqual(["$.b: unexpected 2"]);
  expect(matches({ a: 1 }, { a: 1, b: 2 }, { extra: true })).toEqual([]);
  expect(matches({ a: 1 }, { a: 1, b: undefined })).toEqual([]);
});

test("a PDF is one in base64 or as bytes, and instants are compared as instants", () => {
  const values = {};
  expect(matches("{{pdf:p}}", samplePdf.toString("base64"), { values })).toEqual([]);
  expect(matches("{{pdf:p}}", samplePdf, { values })).toEqual([]);
  expect(matches("{{pdf}}", Buffer.from("text"))).toHaveLength(1);
  const at = { at: "2026-03-02T10:15:27+01:00" };
  expect(matches("{{datetime:at}}", "2026-03-02T09:15:27.000Z", { values: at })).toEqual([]);
});

test("list lengths count", () => {
  expect(matches(["{{string}}"], ["a", "b"])).toEqual(["$: expected 1 elements, got 2"]);
});
