// A callback's body. The receiver seals it to a public key (arrivals.ts); relay and operators have the private key and open it here.
// The previous release sealed bodies with the journal's keys.
import { UnknownKeyError } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { BoxOpener, isSealedBox } from "../../crypto/sealed-box.js";
import { open } from "../../crypto/sealed.js";

export interface BodyKeys {
  /** The private ring. */
  inbox: KeyRing;
  /** Opens bodies that the previous release stored; without it they cannot be opened. */
  journal?: KeyRing;
}

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
  readonly #journal: KeyRing | undefined;

  constructor({ inbox, journal }: BodyKeys) {
    this.#box = new BoxOpener(inbox);
    this.#journal = journal;
  }

  /** Throws if the key is missing or the body was changed. */
  open(row: Place & { sealedBody: Buffer }): Buffer {
    const { sealedBody } = row;
    if (isSealedBox(sealedBody)) return this.#box.open(sealedBody, bodyContext(row));
    if (this.#journal === undefined) throw new UnknownKeyError("journal");
    return open(this.#journal, sealedBody, bodyContext(row));
  }
}
