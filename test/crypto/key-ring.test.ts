import { inspect } from "node:util";
import { expect, test } from "vitest";
import { UnknownKeyError } from "../../src/crypto/errors.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";

const key = (fill: number): string => Buffer.alloc(32, fill).toString("base64");

test("the first key is the active one and every key is found by its id", () => {
  const ring = KeyRing.parse(`new:${key(1)}, old:${key(2)}`);
  expect(ring.active.id).toBe("new");
  expect(ring.get("old")?.bytes).toEqual(Buffer.alloc(32, 2));
  expect(ring.get("other")).toBeUndefined();
});

test("requiring a key that is not there names its id", () => {
  const ring = KeyRing.parse(generateKeyRing());
  expect(() => ring.require("k9")).toThrow(new UnknownKeyError("k9"));
});

test("a generated ring can be parsed and differs each time", () => {
  const text = generateKeyRing("a1");
  expect(KeyRing.parse(text).active.id).toBe("a1");
  expect(generateKeyRing("a1")).not.toBe(text);
  expect(() => generateKeyRing("a:b")).toThrow("a key id is");
});

test.each([
  ["", "entry 1: expected <id>:<base64"],
  [key(1), "entry 1: expected <id>:<base64"],
  [`a b:${key(1)}`, "entry 1: the id must be"],
  [`a:${key(1)},`, "entry 2: expected <id>:<base64"],
  ["a:!!!!", 'entry 1 ("a"): the key is not base64'],
  [`a:${Buffer.alloc(16).toString("base64")}`, 'entry 1 ("a"): the key has 16 bytes instead of 32'],
  [`a:${key(1)},a:${key(2)}`, 'the key id "a" occurs twice'],
])("a malformed ring is refused with the reason: %#", (text, reason) => {
  expect(() => KeyRing.parse(text)).toThrow(reason);
});

test("an error about a ring never shows key text", () => {
  const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA";
  for (const text of [secret, `a:${secret}`, `${secret}=:x`, `a:${key(1)},${secret}`]) {
    expect(() => KeyRing.parse(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("c2Vj") }),
    );
  }
});

test("printing a ring or a key shows no key bytes", () => {
  const ring = KeyRing.parse(
    `a:${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`,
  );
  for (const shown of [
    inspect(ring, { depth: 9 }),
    JSON.stringify(ring),
    inspect(ring.active),
    JSON.stringify(ring.active),
  ]) {
    expect(shown).not.toMatch(/30 31 32|48,\s*49|MDEy|0123/);
  }
});
