import { createHmac, hkdfSync } from "node:crypto";
import { expect, test } from "vitest";
import { keyedDigest, verifyKeyedDigest } from "../../src/crypto/hmac.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";

const fixed = KeyRing.parse(`k1:${Buffer.alloc(32, 7).toString("base64")}`);

test("a digest is fixed for ever: key id, then HMAC-SHA-256 under the label's own key", () => {
  // Computed once with Python's hmac and hashlib (RFC 5869, RFC 2104).
  expect(keyedDigest(fixed, "input", "data")).toBe(
    "k1.cc6d4a66d39a294b6cf400787196b6e508c031746a1d3f18154be2b8dcc88485",
  );
  const derived = Buffer.from(hkdfSync("sha256", Buffer.alloc(32, 7), "", "trustflow:input", 32));
  expect(keyedDigest(fixed, "input", "data")).toBe(
    `k1.${createHmac("sha256", derived).update("data").digest("hex")}`,
  );
});

test("text and its UTF-8 bytes have the same digest", () => {
  expect(keyedDigest(fixed, "input", "né")).toBe(keyedDigest(fixed, "input", Buffer.from("né")));
});

test("a digest holds for its label and data only", () => {
  const digest = keyedDigest(fixed, "input", "data");
  expect(verifyKeyedDigest(fixed, "input", "data", digest)).toBe(true);
  expect(verifyKeyedDigest(fixed, "callback", "data", digest)).toBe(false);
  expect(verifyKeyedDigest(fixed, "input", "date", digest)).toBe(false);
  expect(verifyKeyedDigest(fixed, "input", "data", digest.toUpperCase())).toBe(false);
});

test("a digest of a rotated key holds while the ring has that key", () => {
  const older = generateKeyRing("older");
  const newer = generateKeyRing("newer");
  const digest = keyedDigest(KeyRing.parse(older), "input", "data");
  expect(verifyKeyedDigest(KeyRing.parse(`${newer},${older}`), "input", "data", digest)).toBe(true);
  expect(verifyKeyedDigest(KeyRing.parse(newer), "input", "data", digest)).toBe(false);
});

test.each(["", ".", "k1", "k1.", "k1.00", "k1.é", ".abc"])(
  "a malformed digest does not hold: %s",
  (digest) => {
    expect(verifyKeyedDigest(fixed, "input", "data", digest)).toBe(false);
  },
);
