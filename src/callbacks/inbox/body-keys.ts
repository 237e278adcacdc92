// Who may read bodies of the inbox: the receiver seals them to a public key (arrivals.ts); relay and operators have the private
// one, and open here. The release before sealed them with the journal's keys.
import { UnknownKeyError } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { BoxOpener, isSealedBox } from "../../crypto/sealed-box.js";
import { open } from "../../crypto/sealed.js";

export interface BodyKeys {
  /** The private ring. */
  inbox: KeyRing;
  /** Opens the bodies of the release before; without it they stay closed. */
  journal?: KeyRing;
}

interface Place {
  address: string;
  identifier: string;
}

/** A row by its address and identifier alone, so that the body cannot be moved to another one. */
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

  /** Throws where the key is gone or the body was changed. */
  open(row: Place & { sealedBody: Buffer }): Buffer {
    const { sealedBody } = row;
    if (isSealedBox(sealedBody)) return this.#box.open(sealedBody, bodyContext(row));
    if (this.#journal === undefined) throw new UnknownKeyError("journal");
    return open(this.#journal, sealedBody, bodyContext(row));
  }
}
