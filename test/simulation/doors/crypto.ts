// Randomness of node:crypto from the seed of the world. What is derived from keys and data is not touched.
import crypto from "node:crypto";
import type { KeyObject } from "node:crypto";
import { createRequire } from "node:module";
import type { Random } from "../random.js";

const require = createRequire(import.meta.url);
/** PKCS #8 of a private key of 32 bytes, up to these. */
const heads: Record<string, string> = {
  ed25519: "302e020100300506032b657004220420",
  x25519: "302e020100300506032b656e04220420",
};

type Done<T> = (error: Error | null, value: T) => void;

/** `random` gives the stream of the installed world, or undefined where there is none. */
export function seedCrypto(random: () => Random | undefined): void {
  const {
    randomFillSync,
    randomInt: nativeInt,
    randomUUID: nativeUUID,
    randomBytes: nativeBytes,
  } = crypto;
  const nativePair = crypto.generateKeyPairSync as KeyPair;
  const webNative = crypto.webcrypto.getRandomValues.bind(crypto.webcrypto);
  const fill = <B extends NodeJS.ArrayBufferView>(view: B, from = 0, size?: number): B => {
    const seeded = random();
    const end = from + (size ?? view.byteLength - from);
    const bytes = new Uint8Array(view.buffer, view.byteOffset + from, end - from);
    if (seeded) seeded.fillBytes(bytes);
    else randomFillSync(bytes);
    return view;
  };
  function randomBytes(size: number, done?: Done<Buffer>): Buffer | void {
    const bytes = random()?.bytes(size) ?? nativeBytes(size);
    if (!done) return bytes;
    process.nextTick(done, null, bytes);
  }
  function randomInt(first: number, second?: number | Done<number>, done?: Done<number>) {
    const [from, to] = typeof second === "number" ? [first, second] : [0, first];
    const answer = typeof second === "function" ? second : done;
    const value = random()?.int(from, to) ?? nativeInt(from, to);
    if (!answer) return value;
    process.nextTick(answer, null, value);
  }
  function randomUUID(): string {
    const bytes = random()?.bytes(16);
    if (!bytes) return nativeUUID();
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const hex = bytes.toString("hex");
    return [
      [0, 8],
      [8, 12],
      [12, 16],
      [16, 20],
      [20, 32],
    ]
      .map((cut) => hex.slice(...cut))
      .join("-");
  }
  const replaced = {
    randomBytes,
    randomInt,
    randomUUID,
    randomFillSync: fill,
    randomFill(view: NodeJS.ArrayBufferView, ...rest: unknown[]) {
      const done = rest.pop() as Done<unknown>;
      process.nextTick(done, null, fill(view, ...(rest as number[])));
    },
    generateKeyPairSync: keyPairs(nativePair, random),
  };
  Object.assign(require("node:crypto") as object, replaced);
  const web = {
    randomUUID,
    getRandomValues: (view: NodeJS.ArrayBufferView) =>
      random() ? fill(view) : webNative(view as never),
  };
  for (const [name, value] of Object.entries(web))
    Object.defineProperty(crypto.webcrypto, name, { value, configurable: true, writable: true });
}

type Encoding = { format: string };
type Encodings = { publicKeyEncoding?: Encoding; privateKeyEncoding?: Encoding };
type KeyPair = (type: string, options?: Encodings) => { publicKey: unknown; privateKey: unknown };

/** Keys of other types cannot be made from a seed: one pair of each serves the whole process. */
function keyPairs(native: KeyPair, random: () => Random | undefined): KeyPair {
  const kept = new Map<string, ReturnType<KeyPair>>();
  const form = (key: KeyObject, encoding?: Encoding) =>
    encoding ? key.export(encoding as never) : key;
  return (type, options) => {
    const seeded = random();
    if (!seeded) return native(type, options);
    const head = heads[type];
    if (head === undefined) {
      const name = JSON.stringify([type, options]);
      const pair = kept.get(name) ?? native(type, options);
      kept.set(name, pair);
      return pair;
    }
    const der = Buffer.concat([Buffer.from(head, "hex"), seeded.bytes(32)]);
    const privateKey = crypto.createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const publicKey = crypto.createPublicKey(privateKey);
    return {
      publicKey: form(publicKey, options?.publicKeyEncoding),
      privateKey: form(privateKey, options?.privateKeyEncoding),
    };
  };
}
