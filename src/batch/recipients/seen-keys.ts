// Which keys were seen, and on which line first: 64 bits of a digest and the line for each, so that a million keys take 25 MB. Two
// different keys of a million share these bits once in thirty million lists.
import { hash } from "node:crypto";

const FIRST_CAPACITY = 1 << 10;
const MAX_LOAD = 0.75;

export class SeenKeys {
  /** Each slot has three words: the digest's first two, and the line, which is 0 where the slot is free. */
  #slots = new Uint32Array(3 * FIRST_CAPACITY);
  #size = 0;

  /** The line on which the key was seen first; undefined where it is new, and it is then kept with this line. */
  firstLine(key: string, line: number): number | undefined {
    const [high, low] = digestOf(key);
    const at = slotOf(this.#slots, high, low);
    const known = this.#slots[at + 2];
    if (known !== 0) return known;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#slots[at + 2] = line;
    this.#size += 1;
    if (this.#size > MAX_LOAD * (this.#slots.length / 3)) this.#grow();
    return undefined;
  }

  lineOf(key: string): number | undefined {
    const [high, low] = digestOf(key);
    return this.#slots[slotOf(this.#slots, high, low) + 2] || undefined;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#slots.length);
    for (let from = 0; from < this.#slots.length; from += 3) {
      const slot = this.#slots.subarray(from, from + 3);
      const [high = 0, low = 0, line] = slot;
      if (line !== 0) larger.set(slot, slotOf(larger, high, low));
    }
    this.#slots = larger;
  }
}

function digestOf(key: string): [high: number, low: number] {
  const digest = hash("sha256", key, "buffer");
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

/** The place of the key's slot, or of the free one where it would be. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const capacity = slots.length / 3;
  let slot = high & (capacity - 1);
  for (;;) {
    const at = 3 * slot;
    const isFree = slots[at + 2] === 0;
    if (isFree || (slots[at] === high && slots[at + 1] === low)) return at;
    slot = (slot + 1) & (capacity - 1);
  }
}
