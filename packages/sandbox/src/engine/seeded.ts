// Deterministic ids: the same seed and the same order of requests give the same ids.
import { createHash } from "node:crypto";

export class SeededIds {
  readonly #seed: string;
  #counters: Record<string, number> = {};

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A UUID (version 4 by its form), the next one of its kind. */
  uuid(kind: string): string {
    const count = (this.#counters[kind] ?? 0) + 1;
    this.#counters[kind] = count;
    const bytes = createHash("sha256")
      .update(`${this.#seed}/${kind}/${count}`)
      .digest()
      .subarray(0, 16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = bytes.toString("hex");
    return [8, 12, 16, 20, 32].map((end, i) => hex.slice([0, 8, 12, 16, 20][i], end)).join("-");
  }

  /** So many digits, the next of their kind. */
  digits(kind: string, length: number): string {
    const number = BigInt(`0x${this.uuid(kind).replaceAll("-", "")}`) >> 64n;
    return String(number % 10n ** BigInt(length)).padStart(length, "0");
  }

  count(kind: string): number {
    return this.#counters[kind] ?? 0;
  }

  save(): Record<string, number> {
    return this.#counters;
  }

  load(counters: Record<string, number>): void {
    this.#counters = { ...counters };
  }
}
