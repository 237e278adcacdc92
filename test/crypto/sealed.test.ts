import { expect, test } from "vitest";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { open, seal } from "../../src/crypto/sealed.js";
import { DecryptionError, UnknownKeyError } from "../../src/errors/index.js";

const older = generateKeyRing("older");
const newer = generateKeyRing("newer");
const content = Buffer.from("content");

test("a sealed value opens in its context and in no other", () => {
  const ring = KeyRing.parse(newer);
  const sealed = seal(ring, content, "journal:1");
  expect(open(ring, sealed, "journal:1")).toEqual(content);
  expect(() => open(ring, sealed, "journal:2")).toThrow(DecryptionError);
});

test("a value sealed before a rotation still opens after it", () => {
  const sealed = seal(KeyRing.parse(older), content, "c");
  expect(open(KeyRing.parse(`${newer},${older}`), sealed, "c")).toEqual(content);
});

test("a value whose key is gone says which key it needs", () => {
  const sealed = seal(KeyRing.parse(older), content, "c");
  expect(() => open(KeyRing.parse(newer), sealed, "c")).toThrow(new UnknownKeyError("older"));
});

test.each(["", "01", "02016b", "01ff", "016b"])("what was never sealed is refused: %s", (bytes) => {
  expect(() => open(KeyRing.parse(newer), Buffer.from(bytes, "hex"), "c")).toThrow(
    /not a sealed value|no key/,
  );
});
