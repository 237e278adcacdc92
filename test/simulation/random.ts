// Random numbers from a seed: the generator sfc32, whose state comes from a digest of the seed.
import { createHash } from "node:crypto";

export class Random {
  readonly #seed: string;
  readonly #state: Uint32Array;

  constructor(seed: string) {
    this.#seed = seed;
    const digest = createHash("sha256").update(seed).digest();
    this.#state = Uint32Array.from([0, 4, 8, 12], (at) => digest.readUInt32LE(at));
    for (let round = 0; round < 12; round += 1) this.uint32();
  }

  /** A stream of its own: draws of the one do not change the other. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  uint32(): number {
    const state = this.#state as unknown as [number, number, number, number];
    const [a, b, c, d] = state;
    const sum = (a + b + d) >>> 0;
    state[3] = d + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return sum;
  }

  /** From 0 up to, and without, 1. */
  next(): number {
    return (this.uint32() >>> 5) / 2 ** 27;
  }

  /** A whole number from `from` up to, and without, `to`. */
  int(from: number, to: number): number {
    const high = this.uint32() * 2 ** 21;
    return from + ((high + (this.uint32() >>> 11)) % (to - from));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError("nothing to pick from");
    return values[this.int(0, values.length)] as T;
  }

  bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size);
    return this.fillBytes(bytes);
  }

  fillBytes<B extends Uint8Array>(bytes: B): B {
    for (let at = 0; at < bytes.length; at += 4) {
      let value = this.uint32();
      for (let byte = at; byte < Math.min(at + 4, bytes.length); byte += 1) {
        bytes[byte] = value;
        value >>>= 8;
      }
    }
    return bytes;
  }
}
