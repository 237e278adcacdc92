// Looks for thousands of texts in one pass over bytes.

export class Needles<Label> {
  /** Whether one begins with these two bytes: most places are over with that. */
  readonly #begins = new Uint8Array(1 << 16);
  readonly #byHead = new Map<number, [Label, Buffer][]>();

  /** Each has four bytes at least. */
  constructor(needles: Iterable<[Label, Buffer]>) {
    for (const [label, needle] of needles) {
      const head = needle.readUInt32LE();
      this.#begins[head & 0xffff] = 1;
      this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), [label, needle]]);
    }
  }

  /** Each that stands there, and where it begins. */
  *in(bytes: Buffer): Generator<[Label, number]> {
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      if (!this.#begins[bytes[at]! | (bytes[at + 1]! << 8)]) continue;
      for (const [label, needle] of this.#byHead.get(bytes.readUInt32LE(at)) ?? [])
        if (bytes.subarray(at, at + needle.length).equals(needle)) yield [label, at];
    }
  }
}
