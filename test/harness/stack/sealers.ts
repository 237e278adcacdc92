// Data keys for a test of the journal: in memory, as a document store would give them.
import { dataKeyId, ProcessSealer, type Sealers } from "../../../src/crypto/data-key.js";
import { keyOf, type Key } from "../../../src/crypto/key-ring.js";

export function sealersIn(): Sealers {
  const keys = new Map<string, Key>();
  return {
    async of(processKey) {
      const id = dataKeyId(processKey);
      const key = keys.get(id) ?? keyOf(id);
      keys.set(id, key);
      return new ProcessSealer(key);
    },
  };
}
