// A callback's body. The receiver seals it to a public key (arrivals.ts); relay and operators have the private key and open it here.
import type { KeyRing } from "../../crypto/key-ring.js";
import { BoxOpener } from "../../crypto/sealed-box.js";

interface Place {
  address: string;
  identifier: string;
}

/** Binds a body to its row by address and identifier, so that it cannot be moved to another row. */
export function bodyContext({ address, identifier }: Place): string {
  return `callback:${address}:${identifier}`;
}

export class BodyOpener {
  readonly #box: BoxOpener;

  constructor(privateRing: KeyRing) {
    this.#box = new BoxOpener(privateRing);
  }

  /** Throws if the key is missing or the body was changed. */
  open(row: Place & { sealedBody: Buffer }): Buffer {
    return this.#box.open(row.sealedBody, bodyContext(row));
  }
}
