// Each process has a data key: it seals the process's documents, and its answers and decisions in the journal, so that to erase the key is
// to erase every copy of them (docs/decisions/0019).
import { createHash } from "node:crypto";
import type { Key } from "./key-ring.js";
import { openForProcess, sealForProcess } from "./sealed.js";

export interface ProcessKey {
  namespace: string;
  workflowId: string;
}

/** Seals and opens what belongs to one process. */
export interface Sealer {
  seal(plaintext: Uint8Array, context: string): Buffer;
  open(sealed: Uint8Array, context: string): Buffer;
}

export interface Sealers {
  /** Makes the process's key where there is none yet. */
  of(processKey: ProcessKey): Promise<Sealer>;
}

/** 32 hex digits; the same for the same process. */
export function dataKeyId({ namespace, workflowId }: ProcessKey): string {
  const parts = JSON.stringify(["data-key", namespace, workflowId]);
  return createHash("sha256").update(parts).digest("hex").slice(0, 32);
}

export class ProcessSealer implements Sealer {
  readonly #key: Key;

  constructor(key: Key) {
    this.#key = key;
  }

  seal(plaintext: Uint8Array, context: string): Buffer {
    return sealForProcess(this.#key, plaintext, context);
  }

  open(sealed: Uint8Array, context: string): Buffer {
    return openForProcess(this.#key, sealed, context);
  }
}
