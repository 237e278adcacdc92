import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { decrypt, encrypt } from "../../src/crypto/aes-gcm.js";
import { DecryptionError } from "../../src/crypto/errors.js";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

// Test cases 15 and 16 of the GCM specification (McGrew and Viega), laid out as IV, ciphertext, tag.
const key = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
const iv = "cafebabefacedbaddecaf888";
const plaintext =
  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" +
  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
const ciphertext =
  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" +
  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";

test("decrypts the published vector without additional data", () => {
  expect(
    decrypt(key, hex(`${iv}${ciphertext}b094dac5d93471bdec1a502270e3cc6c`)).toString("hex"),
  ).toBe(plaintext);
});

test("decrypts the published vector with additional data", () => {
  const sealed = hex(`${iv}${ciphertext.slice(0, 120)}76fc6ece0f4e1768cddf8853bb2d551b`);
  const aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  expect(decrypt(key, sealed, aad).toString("hex")).toBe(plaintext.slice(0, 120));
});

test("what is encrypted is 28 bytes longer, different each time, and comes back", () => {
  const text = Buffer.from("twelve bytes");
  const first = encrypt(key, text);
  expect(first.length).toBe(12 + text.length + 16);
  expect(encrypt(key, text)).not.toEqual(first);
  expect(decrypt(key, first)).toEqual(text);
  expect(decrypt(key, encrypt(key, Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
});

test("a changed byte anywhere, another key or other additional data is refused", () => {
  const aad = Buffer.from("context");
  const sealed = encrypt(key, Buffer.from("content"), aad);
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => decrypt(key, changed, aad)).toThrow(DecryptionError);
  }
  expect(() => decrypt(randomBytes(32), sealed, aad)).toThrow(DecryptionError);
  expect(() => decrypt(key, sealed, Buffer.from("other"))).toThrow(DecryptionError);
  expect(() => decrypt(key, sealed)).toThrow(DecryptionError);
});

test("a ciphertext that is cut short is refused", () => {
  const sealed = encrypt(key, Buffer.from("content"));
  for (let length = 0; length < sealed.length; length += 1) {
    expect(() => decrypt(key, sealed.subarray(0, length))).toThrow(DecryptionError);
  }
});
