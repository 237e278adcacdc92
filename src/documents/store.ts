// Documents outside Temporal's histories: sealed at rest, addressed by an id, checked against their hash on read.
import { createHash } from "node:crypto";
import type { DocumentReference } from "../contracts/shared/values.js";
import { dataKeyId } from "../crypto/data-key.js";
import type { ProcessKey } from "../crypto/data-key.js";
import { DecryptionError, ErasedKeyError } from "../crypto/errors.js";
import type { KeyRing } from "../crypto/key-ring.js";
import { dataKeyOf, open, openForProcess, seal, sealForProcess } from "../crypto/sealed.js";
import { DataKeys } from "./data-keys.js";
import { documentIdOf, uploadId, uriOf } from "./document-id.js";
import type { DocumentDriver } from "./driver.js";
import { DocumentConflict, DocumentCorrupt, DocumentErased, DocumentNotFound } from "./errors.js";

export { DocumentConflict, DocumentCorrupt, DocumentErased, DocumentNotFound } from "./errors.js";

export class DocumentStore {
  readonly dataKeys: DataKeys;
  readonly #driver: DocumentDriver;
  readonly #ring: KeyRing;

  constructor(driver: DocumentDriver, ring: KeyRing) {
    this.#driver = driver;
    this.#ring = ring;
    this.dataKeys = new DataKeys(driver.part("keys"), ring);
  }

  /**
   * The same id with the same content gives the same reference and stores no second copy. What belongs to a process is
   * sealed with its data key; an upload before any process, with the ring.
   */
  async put(
    bytes: Uint8Array,
    mediaType: string,
    options: { id?: string; process?: ProcessKey | undefined } = {},
  ): Promise<DocumentReference> {
    if (bytes.length === 0) throw new TypeError("an empty document cannot be stored");
    const id = options.id ?? uploadId();
    const reference = { uri: uriOf(id), sha256: sha256(bytes), size: bytes.length, mediaType };
    const sealed = await this.#seal(bytes, reference.uri, options.process);
    if (!(await this.#driver.write(id, sealed))) {
      const before = await this.#read(reference.uri);
      if (sha256(await this.#open(reference.uri, before)) !== reference.sha256)
        throw new DocumentConflict(reference.uri);
      if (options.process && isOfRing(before)) await this.#driver.replace(id, sealed);
    }
    return reference;
  }

  async get(reference: DocumentReference): Promise<Buffer> {
    return checked(reference, await this.open(reference.uri));
  }

  /** The same, for a process: from now on the document is sealed with its data key, if it was with the ring. */
  async take(reference: DocumentReference, processKey: ProcessKey): Promise<Buffer> {
    const { uri } = reference;
    const sealed = await this.#read(uri);
    const bytes = checked(reference, await this.#open(uri, sealed));
    if (isOfRing(sealed))
      await this.#driver.replace(documentIdOf(uri), await this.#seal(bytes, uri, processKey));
    return bytes;
  }

  /** Without a reference to check it by: the seal is bound to the URI, so what opens is what was stored. */
  async open(uri: string): Promise<Buffer> {
    return this.#open(uri, await this.#read(uri));
  }

  /** From the key of `from`, where it is sealed with that, to the key of `to`. */
  async handOver(uri: string, from: ProcessKey, to: ProcessKey): Promise<void> {
    const sealed = await this.#driver.read(documentIdOf(uri));
    if (!sealed || dataKeyOf(sealed) !== dataKeyId(from)) return;
    const bytes = await this.#open(uri, sealed);
    await this.#driver.replace(documentIdOf(uri), await this.#seal(bytes, uri, to));
  }

  /** Whether it is there, and sealed with the key of the process or, as earlier releases did, with the ring. */
  async mayBelongTo(uri: string, processKey: ProcessKey): Promise<boolean> {
    const sealed = await this.#driver.read(documentIdOf(uri));
    return (
      sealed !== undefined && (dataKeyOf(sealed) ?? dataKeyId(processKey)) === dataKeyId(processKey)
    );
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

  async #seal(bytes: Uint8Array, uri: string, processKey?: ProcessKey): Promise<Buffer> {
    if (!processKey) return seal(this.#ring, bytes, uri);
    return sealForProcess(await this.dataKeys.of(processKey), bytes, uri);
  }

  async #read(uri: string): Promise<Buffer> {
    const sealed = await this.#driver.read(documentIdOf(uri));
    if (sealed === undefined) throw new DocumentNotFound(uri);
    return sealed;
  }

  async #open(uri: string, sealed: Buffer): Promise<Buffer> {
    try {
      const keyId = dataKeyOf(sealed);
      if (keyId === undefined) return open(this.#ring, sealed, uri);
      return openForProcess(await this.dataKeys.get(keyId), sealed, uri);
    } catch (error) {
      // A missing key is the configuration's fault, or a restore's, not the document's: it stays as it is.
      if (error instanceof ErasedKeyError) throw new DocumentErased(uri);
      if (error instanceof DecryptionError) throw new DocumentCorrupt(uri, error.message);
      throw error;
    }
  }
}

function isOfRing(sealed: Buffer): boolean {
  return dataKeyOf(sealed) === undefined;
}

function checked({ uri, size, sha256: hash }: DocumentReference, bytes: Buffer): Buffer {
  if (bytes.length !== size)
    throw new DocumentCorrupt(uri, `has ${bytes.length} bytes instead of ${size}`);
  if (sha256(bytes) !== hash) throw new DocumentCorrupt(uri, "its SHA-256 differs");
  return bytes;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
