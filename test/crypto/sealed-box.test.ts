// What is sealed to a public key opens with the private one alone, and is HPKE as another implementation reads it.
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { expect, test } from "vitest";
import { KeyRing } from "../../src/crypto/key-ring.js";
import {
  BoxOpener,
  BoxSealer,
  generateBoxRing,
  isSealedBox,
  publicRingOf,
} from "../../src/crypto/sealed-box.js";

const text = (value: string) => Buffer.from(value);
const fresh = (id?: string) => {
  const { privateRing, publicRing } = generateBoxRing(id);
  return { privateRing, opener: opener(privateRing), sealer: sealer(publicRing), publicRing };
};
const opener = (ring: string) => new BoxOpener(KeyRing.parse(ring));
const sealer = (ring: string) => new BoxSealer(KeyRing.parse(ring));

test("the private key opens what the public key sealed, in any order and more than once", () => {
  const { opener: reader, sealer: writer } = fresh();
  const sealed = ["one", "two", ""].map((value) => writer.seal(text(value), "inbox"));
  expect(sealed.every(isSealedBox)).toBe(true);
  for (const [index, value] of [
    ["2", ""],
    ["0", "one"],
    ["1", "two"],
    ["0", "one"],
  ] as const)
    expect(reader.open(sealed[Number(index)]!, "inbox").toString()).toBe(value);
});

test("the public key does not open, nor does another private key or another context", () => {
  const { opener: reader, sealer: writer, publicRing } = fresh();
  const sealed = writer.seal(text("one"), "inbox");
  expect(() => opener(publicRing).open(sealed, "inbox")).toThrow(/does not belong/);
  expect(() => fresh().opener.open(sealed, "inbox")).toThrow(/does not belong/);
  expect(() => reader.open(sealed, "secrets")).toThrow(/does not belong/);
});

test("a box that was changed or cut anywhere does not open", () => {
  const { opener: reader, sealer: writer } = fresh();
  const sealed = writer.seal(text("one"), "inbox");
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => reader.open(changed, "inbox")).toThrow();
    expect(() => reader.open(sealed.subarray(0, at), "inbox")).toThrow();
  }
});

test("after a rotation old boxes open, and new ones are sealed to the new key", () => {
  const old = fresh("k1");
  const sealed = old.sealer.seal(text("one"), "inbox");
  const rotated = `${fresh("k2").privateRing},${old.privateRing}`;
  const publicRing = publicRingOf(KeyRing.parse(rotated));
  expect(publicRing).toMatch(/^k2:.*,k1:/);
  expect(opener(rotated).open(sealed, "inbox").toString()).toBe("one");
  const renewed = sealer(publicRing).seal(text("two"), "inbox");
  expect(opener(rotated).open(renewed, "inbox").toString()).toBe("two");
  expect(() => old.opener.open(renewed, "inbox")).toThrow('the key ring has no key "k2"');
});

test("another implementation of RFC 9180 opens the first box, and ours opens its", async () => {
  const suite = new CipherSuite({
    kem: new DhkemX25519HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Aes256Gcm(),
  });
  const { privateRing, publicRing, opener: reader, sealer: writer } = fresh();
  const raw = (ring: string) => Uint8Array.from(KeyRing.parse(ring).active.bytes).buffer;
  const info = Uint8Array.from(text("trustflow")).buffer;
  const aad = Uint8Array.from(text("inbox")).buffer;

  const box = writer.seal(text("one"), "inbox");
  const recipientKey = await suite.kem.deserializePrivateKey(raw(privateRing));
  const enc = Uint8Array.from(box.subarray(4, 36)).buffer;
  const recipient = await suite.createRecipientContext({ recipientKey, enc, info });
  const opened = await recipient.open(Uint8Array.from(box.subarray(44)).buffer, aad);
  expect(Buffer.from(opened).toString()).toBe("one");

  const recipientPublicKey = await suite.kem.deserializePublicKey(raw(publicRing));
  const sender = await suite.createSenderContext({ recipientPublicKey, info });
  const theirs = Buffer.from(await sender.seal(Uint8Array.from(text("two")).buffer, aad));
  const header = Buffer.concat([
    Buffer.of(2, 2),
    text("k1"),
    Buffer.from(sender.enc),
    Buffer.alloc(8),
  ]);
  expect(reader.open(Buffer.concat([header, theirs]), "inbox").toString()).toBe("two");
});
