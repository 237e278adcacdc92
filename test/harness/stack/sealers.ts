// Data keys for a test of the journal: in memory, as a document store would give them, or those of a running stack.
import {
  generateDataKey,
  dataKeyId,
  ProcessSealer,
  type Sealers,
} from "../../../src/crypto/data-key.js";
import type { Key } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { ringOf, type TestStack } from "./stack.js";

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

export function sealersOf({ stack }: Pick<TestStack, "stack">): Sealers {
  const driver = new DirectoryDriver(stack.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "");
  return new DocumentStore(driver, ringOf(stack, "DOCUMENTS")).dataKeys.sealers();
}
