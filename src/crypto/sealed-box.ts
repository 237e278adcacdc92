// Encryption to a public key, so that who seals cannot open: HPKE base mode (RFC 9180) with X25519, HKDF-SHA256, AES-256-GCM.
// Layout: version (1 byte), length of the key id (1 byte), key id, encapsulated key (32), sequence number (8), ciphertext, tag (16).
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
} from "node:crypto";
import type { KeyObject } from "node:crypto";
import { DecryptionError } from "./errors.js";
import { KeyRing } from "./key-ring.js";
import { KEY_BYTES, privateKeyOf, publicKeyOf, rawOf } from "./raw-keys.js";

const VERSION = 2;
const SEQUENCE_BYTES = 8;
const TAG_BYTES = 16;
const INFO = Buffer.from("trustflow");
/** After so many messages a sealer takes a new encapsulated key. */
const MESSAGES_PER_KEY = 65_536;
/** How many senders an opener remembers. */
const SENDERS = 256;

interface MessageKeys {
  key: Buffer;
  baseNonce: Buffer;
}

/** A ring of one fresh key pair, as texts of the form of `KeyRing.parse`: the private one opens, the public one seals. */
export function generateBoxRing(id = "k1"): { privateRing: string; publicRing: string } {
  const { privateKey } = generateKeyPairSync("x25519");
  const privateRing = `${id}:${rawOf(privateKey).toString("base64")}`;
  return { privateRing, publicRing: publicRingOf(KeyRing.parse(privateRing)) };
}

/** The first key stays the first. */
export function publicRingOf(privateRing: KeyRing): string {
  return privateRing.all
    .map(
      ({ id, bytes }) =>
        `${id}:${rawOf(createPublicKey(privateKeyOf("x25519", bytes))).toString("base64")}`,
    )
    .join(",");
}

/** Seals to the first key of a ring of public keys. */
export class BoxSealer {
  readonly #keyId: Buffer;
  readonly #recipient: KeyObject;
  #sender: (MessageKeys & { encapsulated: Buffer; sequence: number }) | undefined;

  constructor(publicRing: KeyRing) {
    const { id, bytes } = publicRing.active;
    this.#keyId = Buffer.from(id);
    this.#recipient = publicKeyOf("x25519", bytes);
  }

  /** Opens only with the private key and with the same context. */
  seal(plaintext: Uint8Array, context: string): Buffer {
    let sender = this.#sender;
    if (sender === undefined || sender.sequence >= MESSAGES_PER_KEY) {
      const { privateKey, publicKey } = generateKeyPairSync("x25519");
      const encapsulated = rawOf(publicKey);
      const shared = diffieHellman({ privateKey, publicKey: this.#recipient });
      const keys = messageKeys(shared, encapsulated, rawOf(this.#recipient));
      this.#sender = sender = { ...keys, encapsulated, sequence: 0 };
    }
    const sequence = sequenceBytes(sender.sequence++);
    const cipher = createCipheriv("aes-256-gcm", sender.key, nonceOf(sender, sequence));
    cipher.setAAD(Buffer.from(context));
    return Buffer.concat([
      Buffer.of(VERSION, this.#keyId.length),
      this.#keyId,
      sender.encapsulated,
      sequence,
      cipher.update(plaintext),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }
}

/** Opens what was sealed to any key of a ring of private keys. */
export class BoxOpener {
  readonly #ring: KeyRing;
  readonly #senders = new Map<string, MessageKeys>();

  constructor(privateRing: KeyRing) {
    this.#ring = privateRing;
  }

  /** Throws `DecryptionError` and `UnknownKeyError`. */
  open(sealed: Uint8Array, context: string): Buffer {
    const [version, idLength] = sealed;
    if (version !== VERSION || idLength === undefined)
      throw new DecryptionError("not a sealed box");
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const keyAt = 2 + idLength;
    const sequenceAt = keyAt + KEY_BYTES;
    const bodyAt = sequenceAt + SEQUENCE_BYTES;
    const tagAt = bytes.length - TAG_BYTES;
    if (tagAt < bodyAt) throw new DecryptionError("the sealed box is cut short");
    const encapsulated = bytes.subarray(keyAt, sequenceAt);
    const keys = this.#keysOf(bytes.subarray(2, keyAt).toString(), encapsulated);
    const nonce = nonceOf(keys, bytes.subarray(sequenceAt, bodyAt));
    const decipher = createDecipheriv("aes-256-gcm", keys.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(tagAt));
    const plaintext = decipher.update(bytes.subarray(bodyAt, tagAt));
    try {
      return Buffer.concat([plaintext, decipher.final()]);
    } catch {
      throw new DecryptionError(
        "the sealed box does not belong to this key and context, or was changed",
      );
    }
  }

  #keysOf(keyId: string, encapsulated: Buffer): MessageKeys {
    const name = `${keyId} ${encapsulated.toString("base64")}`;
    const known = this.#senders.get(name);
    if (known !== undefined) return known;
    const privateKey = privateKeyOf("x25519", this.#ring.require(keyId).bytes);
    const shared = agree(privateKey, encapsulated);
    const keys = messageKeys(shared, encapsulated, rawOf(createPublicKey(privateKey)));
    const [oldest] = this.#senders.keys();
    if (this.#senders.size >= SENDERS && oldest !== undefined) this.#senders.delete(oldest);
    this.#senders.set(name, keys);
    return keys;
  }
}

/** Whether the bytes are a sealed box, by their first byte. */
export function isSealedBox(sealed: Uint8Array): boolean {
  return sealed[0] === VERSION;
}

function agree(privateKey: KeyObject, encapsulated: Buffer): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey: publicKeyOf("x25519", encapsulated) });
  } catch {
    throw new DecryptionError("the sealed box has no valid key");
  }
}

// RFC 9180 §4.1 (DHKEM) and §5.1 (key schedule) for base mode, without a pre-shared key.
const KEM = Buffer.concat([Buffer.from("KEM"), Buffer.of(0x00, 0x20)]);
const SUITE = Buffer.concat([Buffer.from("HPKE"), Buffer.of(0x00, 0x20, 0x00, 0x01, 0x00, 0x02)]);
const NONE = Buffer.alloc(0);

function messageKeys(shared: Buffer, encapsulated: Buffer, recipient: Buffer): MessageKeys {
  const prk = extract(KEM, NONE, "eae_prk", shared);
  const secretOfKem = expand(
    KEM,
    prk,
    "shared_secret",
    Buffer.concat([encapsulated, recipient]),
    32,
  );
  const context = Buffer.concat([
    Buffer.of(0),
    extract(SUITE, NONE, "psk_id_hash", NONE),
    extract(SUITE, NONE, "info_hash", INFO),
  ]);
  const secret = extract(SUITE, secretOfKem, "secret", NONE);
  return {
    key: expand(SUITE, secret, "key", context, 32),
    baseNonce: expand(SUITE, secret, "base_nonce", context, 12),
  };
}

function extract(suite: Buffer, salt: Buffer, label: string, input: Buffer): Buffer {
  return hmac(salt, Buffer.from("HPKE-v1"), suite, Buffer.from(label), input);
}

/** One block of HKDF-Expand: at most 32 bytes. */
function expand(suite: Buffer, prk: Buffer, label: string, info: Buffer, length: number): Buffer {
  const parts = [Buffer.of(0, length), Buffer.from("HPKE-v1"), suite, Buffer.from(label), info];
  return hmac(prk, ...parts, Buffer.of(1)).subarray(0, length);
}

function hmac(key: Buffer, ...parts: Buffer[]): Buffer {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

function sequenceBytes(sequence: number): Buffer {
  const bytes = Buffer.alloc(SEQUENCE_BYTES);
  bytes.writeBigUInt64BE(BigInt(sequence));
  return bytes;
}

function nonceOf({ baseNonce }: MessageKeys, sequence: Buffer): Buffer {
  const nonce = Buffer.from(baseNonce);
  const at = nonce.length - SEQUENCE_BYTES;
  for (const [index, byte] of sequence.entries())
    nonce[at + index] = (nonce[at + index] ?? 0) ^ byte;
  return nonce;
}
