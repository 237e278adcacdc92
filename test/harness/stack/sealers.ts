// Data keys for a test of the journal: in memory, as a document store would give them.
import {
  generateDataKey,
  dataKeyId,
  ProcessSealer,
  type Sealer,
  type Sealers,
} from "../../../src/crypto/data-key.js";
import type { Key, KeyRing } from "../../../src/crypto/key-ring.js";
import { open, seal } from "../../../src/crypto/sealed.js";

export function sealersIn(ring: KeyRing): Sealers {
  const keys = new Map<string, Key>();
  return {
    async of(processKey) {
      const id = dataKeyId(processKey);
      const key = keys.get(id) ?? generateDataKey(id);
      keys.set(id, key);
      return new ProcessSealer(key, ring);
    },
  };
}

/** As the release before sealed: with the ring alone. */
export function ringSealer(ring: KeyRing): Sealer {
  return {
    seal: (plaintext, context) => seal(ring, plaintext, context),
    open: (sealed, context) => open(ring, sealed, context),
  };
}
