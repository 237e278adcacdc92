// Secrets that a client seals for the workers, inside the encrypted payload: who may decode payloads sees no secret
// (docs/design.md §8). A sealed one opens only in the process that it was sealed for.
import { isSealed, sealedPrefix } from "../../contracts/shared/sealed-secret.js";
import type { ProcessKey } from "../../crypto/data-key.js";
import { UnknownKeyError } from "../../crypto/errors.js";
import { KeyRing } from "../../crypto/key-ring.js";
import { BoxOpener, BoxSealer, publicRingOf } from "../../crypto/sealed-box.js";

export class SecretSealer {
  readonly #sealer: BoxSealer;

  constructor(publicRing: KeyRing) {
    this.#sealer = new BoxSealer(publicRing);
  }

  /** A sealed secret stays as it is. */
  seal(secret: string, processKey: ProcessKey): string {
    if (isSealed(secret)) return secret;
    const box = this.#sealer.seal(Buffer.from(secret), contextOf(processKey));
    return sealedPrefix + box.toString("base64url");
  }
}

/** Belongs to a worker; without its ring it opens nothing, and what it would seal stays in clear. */
export class WorkerSecrets {
  readonly #opener: BoxOpener | undefined;
  readonly #sealer: SecretSealer | undefined;

  constructor(privateRing: KeyRing | undefined) {
    this.#opener = privateRing && new BoxOpener(privateRing);
    this.#sealer = privateRing && new SecretSealer(KeyRing.parse(publicRingOf(privateRing)));
  }

  /** A secret that came in clear stays as it is. Throws `DecryptionError` and `UnknownKeyError`. */
  open(text: string, processKey: ProcessKey): string {
    if (!isSealed(text)) return text;
    if (!this.#opener) throw new UnknownKeyError("keys.secrets");
    const box = Buffer.from(text.slice(sealedPrefix.length), "base64url");
    return this.#opener.open(box, contextOf(processKey)).toString();
  }

  seal(text: string, processKey: ProcessKey): string {
    return this.#sealer?.seal(text, processKey) ?? text;
  }
}

function contextOf({ namespace, workflowId }: ProcessKey): string {
  return `secret of ${namespace}/${workflowId}`;
}
