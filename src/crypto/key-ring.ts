// Keys by id: the first one encrypts, all of them decrypt, so a key is rotated by putting a new one in front.
import { randomBytes } from "node:crypto";
import { UnknownKeyError } from "./errors.js";

const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;

/** True for an id that a key of a ring may have. */
export function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}

/** A ring for each purpose, as `keys` of the configuration names it. */
export const ringNames = [
  "codec",
  "codecWrite",
  "secrets",
  "callback",
  "journal",
  "inbox",
  "documents",
] as const;

export interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Without `bytes` it is a fresh one. They are not enumerable, so that neither console.log nor JSON.stringify shows them. */
export function keyOf(id: string, bytes: Buffer = randomBytes(KEY_BYTES)): Key {
  return Object.defineProperty({ id, bytes }, "bytes", { enumerable: false });
}

export class KeyRing {
  readonly #keys: ReadonlyMap<string, Key>;
  readonly #active: Key;

  private constructor(keys: [Key, ...Key[]]) {
    this.#active = keys[0];
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** `id:base64[,id:base64…]`, each of 32 bytes; the first is the active one. */
  static parse(text: string): KeyRing {
    const [first, ...others] = text.split(",").map(parseKey);
    if (first === undefined) throw new Error("a key ring needs at least one key");
    const ids = new Set([first.id]);
    for (const { id } of others) {
      if (ids.has(id)) throw new Error(`key ring: the key id "${id}" occurs twice`);
      ids.add(id);
    }
    return new KeyRing([first, ...others]);
  }

  get active(): Key {
    return this.#active;
  }

  /** The active key first. */
  get all(): Key[] {
    return [...this.#keys.values()];
  }

  /** A ring of each key alone. */
  get alone(): KeyRing[] {
    return this.all.map((key) => new KeyRing([key]));
  }

  get(id: string): Key | undefined {
    return this.#keys.get(id);
  }

  require(id: string): Key {
    const key = this.#keys.get(id);
    if (key === undefined) throw new UnknownKeyError(id);
    return key;
  }
}

/** A ring of one fresh key, as text. */
export function generateKeyRing(id = "k1"): string {
  if (!isKeyId(id)) throw new Error("key ring: a key id is 1 to 32 of A-Z a-z 0-9 _ -");
  return `${id}:${randomBytes(KEY_BYTES).toString("base64")}`;
}

// A mistyped entry may be the key itself, so a message says which entry, and its id only once that is one.
function parseKey(entry: string, index: number): Key {
  const where = `key ring, entry ${index + 1}`;
  const colon = entry.indexOf(":");
  if (colon < 0) throw new Error(`${where}: expected <id>:<base64 of ${KEY_BYTES} bytes>`);
  const id = entry.slice(0, colon).trim();
  if (!isKeyId(id)) throw new Error(`${where}: the id must be 1 to 32 of A-Z a-z 0-9 _ -`);
  const text = entry.slice(colon + 1).trim();
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text)
    throw new Error(`${where} ("${id}"): the key is not base64`);
  if (bytes.length !== KEY_BYTES) {
    throw new Error(
      `${where} ("${id}"): the key has ${bytes.length} bytes instead of ${KEY_BYTES}`,
    );
  }
  return keyOf(id, bytes);
}
