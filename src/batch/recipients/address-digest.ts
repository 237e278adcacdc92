// Whether two lists have the same recipients, in whatever order: the sum of 64 bits of a digest of each address, and their number.
import { hash } from "node:crypto";

export class AddressDigest {
  count = 0;
  #sum = 0n;

  /** The case of an address says nothing (P2 §2.6). */
  add(address: string): void {
    this.count += 1;
    const digest = hash("sha256", address.toLowerCase(), "buffer");
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64LE(0));
  }

  get value(): string {
    return `${this.count}-${this.#sum.toString(16).padStart(16, "0")}`;
  }
}
