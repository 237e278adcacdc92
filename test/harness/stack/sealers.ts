// Data keys for a test of the journal: in memory, as a document store would give them.
import {
  generateDataKey,
  dataKeyId,
  ProcessSealer,
  type Sealers,
} from "../../../src/crypto/data-key.js";
import type { Key } from "../../../src/crypto/key-ring.js";

export function sealersIn(): Sealers {
  const keys = new Map<string, Key>();
  return {
    async of(processKey) {
      const id = dataKeyId(processKey);
      const key = keys.get(id) ?? generateDataKey(id);
      keys.set(id, key);
      return new ProcessSealer(key);
    },
  };
}
