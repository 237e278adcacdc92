// Documents outside Temporal's histories: sealed at rest, addressed by an id, checked against their hash on read. A document may have
// any size: it is sealed and opened in chunks (docs/design.md §8). The calls that take or return a whole buffer use the streams.
import { Readable } from "node:stream";
import type { DocumentReference } from "../contracts/shared/values.js";
import { dataKeyId } from "../crypto/data-key.js";
import type { ProcessKey } from "../crypto/data-key.js";
import { DecryptionError, ErasedKeyError } from "../crypto/errors.js";
import type { KeyRing, Key } from "../crypto/key-ring.js";
import { sealStream, openStream, streamHeaderOf, streamSize } from "../crypto/sealed-stream.js";
import type { Pieces, SealingKey, SealedFile } from "../crypto/sealed-stream.js";
import { ContentCount, checked, joined } from "./checked.js";
import type { Expected } from "./checked.js";
import { DataKeys } from "./data-keys.js";
import { documentIdOf, uploadId, uriOf } from "./document-id.js";
import type { DocumentDriver, WhenReady } from "./driver.js";
import {
  DocumentConflictError,
  DocumentCorruptError,
  DocumentErasedError,
  DocumentNotFoundError,
} from "../errors/index.js";
import { wrongArgument, refuseUnlessIterable } from "../errors/arguments.js";
import { Spool } from "./spool.js";
import { dataKeyOf } from "../crypto/sealed.js";
import { isUint8Array } from "node:util/types";

// Activities may not import the errors themselves.
export { DocumentNotFoundError } from "../errors/index.js";
export type { Pieces } from "../crypto/sealed-stream.js";

const KEYS = "keys";

/** Runs `work` if the process owns the document of this id, and while it does; otherwise not at all. */
export type WhileOwner = (
  processKey: ProcessKey,
  id: string,
  work: () => Promise<void>,
) => Promise<void>;

/** How a document is stored. */
export interface PutOptions {
  /** The same id with the same content is stored once. Default: a new id. */
  id?: string;
  /** The process with whose data key it is sealed. Default: none; it is sealed with the ring. */
  process?: ProcessKey | undefined;
}

/**
 * Keeps documents, sealed. Throws `DocumentNotFoundError`, `DocumentErasedError`, `DocumentCorruptError`, `DocumentConflictError` where an id
 * stands for another content, `DocumentStoreFullError` and `DocumentStoreUnavailableError`.
 */
export class DocumentStore {
  readonly dataKeys: DataKeys;
  readonly #driver: DocumentDriver;
  readonly #ring: KeyRing;
  readonly #whileOwner: WhileOwner;

  /** Who lets processes take documents needs `whileOwner`. */
  constructor(
    driver: DocumentDriver,
    ring: KeyRing,
    whileOwner: WhileOwner = (_, __, work) => work(),
  ) {
    this.#driver = driver;
    this.#ring = ring;
    this.#whileOwner = whileOwner;
    this.dataKeys = new DataKeys(driver.part(KEYS), ring);
  }

  /**
   * The same id with the same content gives the same reference and stores no second copy. What belongs to a process is
   * sealed with its data key; an upload before any process, with the ring. If `pieces` throws,
   * nothing is stored.
   */
  async putStream(
    pieces: Pieces,
    mediaType: string,
    options: PutOptions = {},
  ): Promise<DocumentReference> {
    // It is read later, and throws then. Without a listener an earlier error would end the application.
    if (pieces instanceof Readable) pieces.on("error", () => undefined);
    if (typeof mediaType !== "string")
      throw wrongArgument("mediaType", "must be a text, such as application/pdf");
    const { id = uploadId(), process: processKey } = Object(options) as PutOptions;
    // What a process stores has the type that its provider says.
    if (!processKey && !/^[^\s/]+\/[^\s/]+/.test(mediaType))
      throw wrongArgument("mediaType", "must be a media type, such as application/pdf");
    const uri = uriOf(id);
    const count = new ContentCount();
    const sealed = sealStream(
      await this.#key(processKey),
      notEmpty(count.of(bytesOf(pieces))),
      uri,
    );
    const isNew = await this.#driver.write(id, sealed);
    const reference = { uri, sha256: count.sha256, size: count.size, mediaType };
    if (isNew) return reference;
    const before = new ContentCount();
    await firstOf(before.of(this.openRead({ uri })));
    if (before.sha256 !== reference.sha256) throw new DocumentConflictError(uri);
    if (processKey) await this.#adopt(reference, processKey);
    return reference;
  }

  /** `putStream` for a document in memory. */
  async put(
    bytes: Uint8Array,
    mediaType: string,
    options: PutOptions = {},
  ): Promise<DocumentReference> {
    if (!isUint8Array(bytes))
      throw wrongArgument("bytes", "must be a Buffer or another Uint8Array");
    return this.putStream([bytes], mediaType, options);
  }

  /**
   * The document, piece by piece. Each piece is authentic: it was stored at this position of this document. The last piece is
   * returned only after all of the document was read and matches the reference. A reader that gets to the end has the whole
   * document; a reader that gets an error must discard the pieces. The first request for a piece opens the file.
   */
  async *openRead(document: Expected): AsyncGenerator<Buffer> {
    refuseUnlessReference(document);
    const { uri, size } = document;
    const file = await this.#driver.open(documentIdOf(uri));
    if (!file) throw new DocumentNotFoundError(uri);
    const keys = { ring: this.#ring, dataKey: (id: string) => this.dataKeys.get(id) };
    try {
      const sealed = await SealedDocument.of(file);
      if (size !== undefined && sealed.size !== size)
        throw new DocumentCorruptError(uri, `has ${sealed.size} bytes instead of ${size}`);
      yield* checked(sealed.pieces(keys, uri), document);
    } catch (error) {
      throw documentError(error, uri);
    } finally {
      await file.close();
    }
  }

  /** `openRead` for a document that fits in memory. */
  async get(reference: DocumentReference): Promise<Buffer> {
    return joined(this.openRead(reference));
  }

  /** Without a reference to check it by: the seal is bound to the URI, so what opens is what was stored. */
  async open(uri: string): Promise<Buffer> {
    return joined(this.openRead({ uri }));
  }

  /** Takes it from the length of the file. Only a read proves that the document is complete. */
  async sizeOf(uri: string): Promise<number> {
    const sealed = await this.#look(uri);
    if (!sealed) throw new DocumentNotFoundError(uri);
    try {
      return sealed.size;
    } catch (error) {
      throw documentError(error, uri);
    }
  }

  /** The same, for a process: from now on the document is sealed with its data key, if it was with the ring. */
  async take(reference: DocumentReference, processKey: ProcessKey): Promise<Buffer> {
    const bytes = await this.get(reference);
    await this.#adopt(reference, processKey);
    return bytes;
  }

  /** `take` for a document of any size: reads and checks all of it, and returns its first piece, which shows the format. */
  async check(reference: DocumentReference, processKey: ProcessKey): Promise<Buffer> {
    const first = await firstOf(this.openRead(reference));
    await this.#adopt(reference, processKey);
    return first;
  }

  /** From the key of `from`, where it is sealed with that, to the key of `to`. */
  async handOver(uri: string, from: ProcessKey, to: ProcessKey): Promise<void> {
    if (await this.#isSealedFor(uri, from)) await this.#sealAgain({ uri }, to);
  }

  /** Reads the document to its end, where it is sealed with the key of the process. */
  async readThrough(uri: string, processKey: ProcessKey): Promise<void> {
    if (await this.#isSealedFor(uri, processKey)) await firstOf(this.openRead({ uri }));
  }

  async #isSealedFor(uri: string, processKey: ProcessKey): Promise<boolean> {
    return (await this.#look(uri))?.dataKeyId === dataKeyId(processKey);
  }

  /** Whether it is there, and sealed with the key of the process or, before any process has taken it, with the ring. */
  async mayBelongTo(uri: string, processKey: ProcessKey): Promise<boolean> {
    const sealed = await this.#look(uri);
    const ownKeyId = dataKeyId(processKey);
    return sealed !== undefined && (sealed.dataKeyId ?? ownKeyId) === ownKeyId;
  }

  /** For downloads: the spool and its files are deleted when `work` ends. */
  async withSpool<T>(work: (spool: Spool) => Promise<T>): Promise<T> {
    const spool = new Spool(this.#driver);
    try {
      return await work(spool);
    } finally {
      await spool.close();
    }
  }

  async exists(uri: string): Promise<boolean> {
    return this.#driver.exists(documentIdOf(uri));
  }

  async delete(uri: string): Promise<void> {
    await this.#driver.remove(documentIdOf(uri));
  }

  /** Documents and data keys that a crash left half written before `before`: their number, and without a dry run they are deleted. */
  async removeUnfinished(before: Date, { dryRun = false } = {}): Promise<number> {
    const places = [this.#driver, this.#driver.part(KEYS)];
    let removed = 0;
    for (const place of places) removed += await place.removeUnfinished(before, dryRun);
    return removed;
  }

  async *list(): AsyncIterable<{ uri: string; storedAt: Date }> {
    for await (const { id, storedAt } of this.#driver.list()) yield { uri: uriOf(id), storedAt };
  }

  /**
   * Only if the ring has sealed it: a document stays with the first process that takes it. An attempt may outlive its process: then another
   * process may own the document, which an erased key would make unreadable.
   */
  async #adopt(document: Expected, processKey: ProcessKey): Promise<void> {
    const sealed = await this.#look(document.uri);
    if (sealed?.dataKeyId === undefined)
      await this.#sealAgain(document, processKey, (replace) =>
        this.#whileOwner(processKey, documentIdOf(document.uri), replace),
      );
  }

  /** The old document is read and checked to its end before the new one replaces it. */
  async #sealAgain(
    document: Expected,
    processKey: ProcessKey,
    whenReady?: WhenReady,
  ): Promise<void> {
    const { uri } = document;
    const sealed = sealStream(await this.#key(processKey), this.openRead(document), uri);
    await this.#driver.replace(documentIdOf(uri), sealed, whenReady);
  }

  async #key(processKey: ProcessKey | undefined): Promise<SealingKey> {
    if (!processKey) return { of: "ring", key: this.#ring.active };
    return { of: "process", key: await this.dataKeys.of(processKey) };
  }

  /** Undefined if it does not exist. */
  async #look(uri: string): Promise<SealedDocument | undefined> {
    const file = await this.#driver.open(documentIdOf(uri));
    try {
      return file && (await SealedDocument.of(file));
    } catch (error) {
      throw documentError(error, uri);
    } finally {
      await file?.close();
    }
  }
}

/** A missing key is the configuration's fault, or a restore's, not the document's: it stays as it is. */
function documentError(error: unknown, uri: string): unknown {
  if (error instanceof ErasedKeyError) return new DocumentErasedError(uri);
  if (error instanceof DecryptionError) return new DocumentCorruptError(uri, error.message);
  return error;
}

async function* notEmpty(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const piece of pieces) {
    isEmpty &&= piece.length === 0;
    yield piece;
  }
  if (isEmpty) throw wrongArgument("document", "is empty");
}

/** Reads all pieces and returns the first. */
async function firstOf<P extends Uint8Array>(pieces: AsyncIterable<P>): Promise<P> {
  let first: P | undefined;
  for await (const piece of pieces) first ??= piece;
  if (!first) throw new Error("there is no piece");
  return first;
}

/** No header is longer. */
const START_BYTES = 512;

export interface Keys {
  ring: KeyRing;
  dataKey(id: string): Promise<Key>;
}

/** One stored document, sealed in chunks (crypto/sealed-stream.ts). */
export class SealedDocument {
  readonly #file: SealedFile;
  readonly #start: Buffer;
  /** The id of the process's data key that opens it; undefined if the ring opens it. */
  readonly dataKeyId: string | undefined;

  private constructor(file: SealedFile, start: Buffer) {
    this.#file = file;
    this.#start = start;
    this.dataKeyId = dataKeyOf(start);
  }

  static async of(file: SealedFile): Promise<SealedDocument> {
    return new SealedDocument(file, await file.read(0, START_BYTES));
  }

  /** The size of the plaintext, if the document is complete. Throws `DecryptionError`. */
  get size(): number {
    return streamSize(streamHeaderOf(this.#start), this.#file.size);
  }

  /** Throws `DecryptionError`, and the errors of the keys. Each returned piece was sealed at its position in this context. */
  async *pieces({ ring, dataKey }: Keys, context: string): AsyncGenerator<Buffer> {
    const header = streamHeaderOf(this.#start);
    const id = this.dataKeyId;
    const key = id === undefined ? ring.require(header.keyId) : await dataKey(id);
    yield* openStream(key, header, this.#file, context);
  }
}

/** Says to the caller why a document is unusable; undefined for any other error. */
export function documentProblem(error: unknown): string | undefined {
  if (error instanceof DocumentNotFoundError) return "is not in the document store";
  if (error instanceof DocumentErasedError) return "was erased with its process";
  if (error instanceof DocumentCorruptError) return "is not what its reference says";
  return undefined;
}

function refuseUnlessReference(document: Expected): void {
  const { uri } = Object(document) as Partial<Expected>;
  if (typeof uri !== "string")
    throw wrongArgument(
      "reference",
      "must be { uri, sha256, size, mediaType }, as a document has it",
    );
}

/** Passes the pieces on. */
async function* bytesOf(pieces: Pieces): AsyncGenerator<Uint8Array> {
  const problem = "must be an iterable of Buffers or other Uint8Arrays";
  refuseUnlessIterable(pieces, "pieces", problem);
  for await (const piece of pieces) {
    if (!isUint8Array(piece)) throw wrongArgument("pieces", problem);
    yield piece;
  }
}
