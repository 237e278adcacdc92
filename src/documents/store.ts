// Documents outside Temporal's histories: sealed at rest, addressed by an id, checked against their hash on read.
import { createHash, randomBytes } from "node:crypto";
import type { DocumentReference } from "../contracts/values.js";
import { DecryptionError } from "../crypto/errors.js";
import type { KeyRing } from "../crypto/key-ring.js";
import { open, seal } from "../crypto/sealed.js";
import { documentIdOf, uriOf } from "./document-id.js";
import type { DocumentDriver } from "./driver.js";
import { DocumentConflict, DocumentCorrupt, DocumentNotFound } from "./errors.js";

export { DocumentConflict, DocumentCorrupt, DocumentNotFound } from "./errors.js";

export class DocumentStore {
  readonly #driver: DocumentDriver;
  readonly #ring: KeyRing;

  constructor(driver: DocumentDriver, ring: KeyRing) {
    this.#driver = driver;
    this.#ring = ring;
  }

  /** The same id with the same content gives the same reference and stores no second copy. */
  async put(
    bytes: Uint8Array,
    mediaType: string,
    options: { id?: string } = {},
  ): Promise<DocumentReference> {
    if (bytes.length === 0) throw new TypeError("an empty document cannot be stored");
    const id = options.id ?? randomBytes(16).toString("hex");
    const reference = { uri: uriOf(id), sha256: sha256(bytes), size: bytes.length, mediaType };
    const written = await this.#driver.write(id, seal(this.#ring, bytes, reference.uri));
    if (!written && sha256(await this.#open(reference.uri)) !== reference.sha256) {
      throw new DocumentConflict(reference.uri);
    }
    return reference;
  }

  async get(reference: DocumentReference): Promise<Buffer> {
    const bytes = await this.#open(reference.uri);
    if (bytes.length !== reference.size) {
      throw new DocumentCorrupt(
        reference.uri,
        `has ${bytes.length} bytes instead of ${reference.size}`,
      );
    }
    if (sha256(bytes) !== reference.sha256)
      throw new DocumentCorrupt(reference.uri, "its SHA-256 differs");
    return bytes;
  }

  async exists(uri: string): Promise<boolean> {
    return this.#driver.exists(documentIdOf(uri));
  }

  async delete(uri: string): Promise<void> {
    await this.#driver.remove(documentIdOf(uri));
  }

  async *list(): AsyncIterable<{ uri: string; storedAt: Date }> {
    for await (const { id, storedAt } of this.#driver.list()) yield { uri: uriOf(id), storedAt };
  }

  async #open(uri: string): Promise<Buffer> {
    const sealed = await this.#driver.read(documentIdOf(uri));
    if (sealed === undefined) throw new DocumentNotFound(uri);
    try {
      return open(this.#ring, sealed, uri);
    } catch (error) {
      // An unknown key is the configuration's fault, not the document's: it stays as it is.
      if (error instanceof DecryptionError) throw new DocumentCorrupt(uri, error.message);
      throw error;
    }
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
