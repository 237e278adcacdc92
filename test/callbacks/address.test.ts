// The callback address is a capability (docs/design.md §7).
import { expect, test } from "vitest";
import {
  AddressReader,
  addressOf,
  callbackUrl,
  correlationMatches,
  correlationOf,
  readAddress,
} from "../../src/callbacks/address.js";
import { keyedDigest } from "../../src/crypto/hmac.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { ring, subjectOf } from "./support.js";

const segmentOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

/** The address with another text in the place of what it says, and its proof. */
function withText(segment: string, change: (text: string) => string): string {
  const [keyId, encoded = "", mac] = segment.split(".");
  const text = change(Buffer.from(encoded, "base64url").toString());
  return `${keyId}.${Buffer.from(text).toString("base64url")}.${mac}`;
}

test("an address gives back its subject, with slashes, dots and letters of any alphabet in it", () => {
  const subject = subjectOf({ namespace: "team.prod", workflowId: "sendPostal/a.b-c_d/é:1" });
  const url = callbackUrl(ring, "https://example.test/base/", subject);
  expect(url).toMatch(/^https:\/\/example\.test\/base\/callbacks\/callback\.[\w-]+\.[0-9a-f]{64}$/);
  expect(readAddress(ring, segmentOf(url))?.subject).toEqual(subject);
});

test("every change of an address, however small, makes it invalid", () => {
  const segment = segmentOf(callbackUrl(ring, "http://h", subjectOf()));
  for (let at = 0; at < segment.length; at += 1) {
    const changed = segment[at] === "A" ? "B" : "A";
    expect(
      readAddress(ring, segment.slice(0, at) + changed + segment.slice(at + 1)),
    ).toBeUndefined();
  }
  for (const other of [
    "",
    ".",
    "..",
    segment.slice(0, -1),
    `${segment}.`,
    `${segment}0`,
    segment.replace(".", ".="),
  ])
    expect(readAddress(ring, other)).toBeUndefined();
});

test("a subject of one process does not open another's address, and correlation values are no addresses", () => {
  const [mine, other] = [subjectOf(), subjectOf()];
  const [keyId, , mac] = segmentOf(callbackUrl(ring, "http://h", mine)).split(".");
  const [, subject] = segmentOf(callbackUrl(ring, "http://h", other)).split(".");
  expect(readAddress(ring, `${keyId}.${subject}.${mac}`)).toBeUndefined();
  const [, foreign] = correlationOf(ring, other).split(".");
  expect(readAddress(ring, `${keyId}.${subject}.${foreign}`)).toBeUndefined();
});

test("a rotated key keeps old addresses valid while it is in the ring, and both name the same place", () => {
  const [old, fresh] = [generateKeyRing("old"), generateKeyRing("new")];
  const subject = subjectOf();
  const before = segmentOf(callbackUrl(KeyRing.parse(old), "http://h", subject));
  const both = KeyRing.parse(`${fresh},${old}`);
  const after = segmentOf(callbackUrl(both, "http://h", subject));
  expect(after).toMatch(/^new\./);
  expect(readAddress(both, before)?.address).toBe(readAddress(both, after)?.address);
  expect(readAddress(KeyRing.parse(fresh), before)).toBeUndefined();
});

test("an account's address is genuine for that account of that provider alone, also after a rotation of the key", () => {
  const [old, fresh] = [generateKeyRing("old"), generateKeyRing("new")];
  const subject = { provider: "one-shot-signature", account: "main-office" };
  const segment = segmentOf(callbackUrl(KeyRing.parse(old), "http://h", subject));
  const both = KeyRing.parse(`${fresh},${old}`);
  expect(readAddress(both, segment)?.subject).toEqual(subject);
  for (const text of [
    "s:one-shot-signature/other",
    "s:evi-post/main-office",
    "p:one-shot-signature:main-office/x",
  ])
    expect(
      readAddress(
        both,
        withText(segment, () => text),
      ),
    ).toBeUndefined();
});

test("the correlation value fits its own process only", () => {
  const subject = subjectOf();
  const value = correlationOf(ring, subject);
  expect(correlationMatches(ring, subject, value)).toBe(true);
  expect(correlationMatches(ring, subjectOf(), value)).toBe(false);
  for (const other of ["", "x", `${value}0`, value.toUpperCase()])
    expect(correlationMatches(ring, subject, other)).toBe(false);
});

test("the date of an address is part of what is proven, and no part of its name", () => {
  const subject = subjectOf();
  const at = (date: string) =>
    segmentOf(callbackUrl(ring, "http://h", subject, { issuedAt: new Date(date) }));
  const [early, late] = [at("2026-01-15"), at("2027-01-15")];
  expect(readAddress(ring, early)?.address).toBe(readAddress(ring, late)?.address);
  expect(readAddress(ring, early)?.address).toBe(addressOf(subject));
  const days = (segment: string) => {
    const { issuedBefore = new Date(0) } = readAddress(ring, segment) ?? {};
    return issuedBefore.getTime() / 86_400_000;
  };
  const issued = Date.parse("2026-01-15") / 86_400_000;
  expect(days(early)).toBeGreaterThan(issued);
  expect(days(early)).toBeLessThanOrEqual(issued + 30);
  const younger = withText(early, (text) =>
    text.replace(/^d:(\d+):/, (_, month) => `d:${Number(month) + 1}:`),
  );
  expect(younger).not.toBe(early);
  for (const forged of [younger, withText(early, (text) => text.replace(/^d:\d+:/, ""))])
    expect(readAddress(ring, forged)).toBeUndefined();
});

test("a signed address of a process without a date is none", () => {
  const subject = subjectOf();
  const text = `p:${subject.provider}:${subject.namespace}/${subject.workflowId}`;
  const [keyId, mac] = keyedDigest(ring, "callback-address", text).split(".");
  const segment = `${keyId}.${Buffer.from(text).toString("base64url")}.${mac}`;
  expect(readAddress(ring, segment)).toBeUndefined();
});

test("the number of callbacks of a batch's address is part of what is proven, and no part of its name", () => {
  const subject = subjectOf({ workflowId: "sendNoticeBatch/d:1:r2:p:3" });
  const segment = segmentOf(callbackUrl(ring, "http://h", subject, { rows: 4_000_000 }));
  expect(readAddress(ring, segment)).toMatchObject({
    ...{ subject, rows: 4_000_000, address: addressOf(subject), issuedBefore: expect.any(Date) },
  });
  expect(readAddress(ring, segmentOf(callbackUrl(ring, "http://h", subject)))).not.toHaveProperty(
    "rows",
  );
  for (const other of [":r4000001:", ":"]) {
    const forged = withText(segment, (text) => text.replace(":r4000000:", other));
    expect(forged).not.toBe(segment);
    expect(readAddress(ring, forged)).toBeUndefined();
  }
});

test("a reader that remembers addresses reads each of them as before, and no changed one", () => {
  const reader = new AddressReader(ring);
  const segments = Array.from({ length: 600 }, (_, number) =>
    segmentOf(callbackUrl(ring, "http://h", subjectOf({ workflowId: `sendPostal/${number}` }))),
  );
  for (let round = 0; round < 2; round += 1)
    for (const segment of segments) {
      expect(reader.read(segment)).toEqual(readAddress(ring, segment));
      expect(reader.read(`${segment.slice(0, -1)}${segment.endsWith("0") ? "1" : "0"}`)).toBe(
        undefined,
      );
    }
});
