// One stored document. It is sealed in chunks (crypto/sealed-stream.ts), or as a whole by releases before the streams
// (crypto/sealed.ts).
import type { Key, KeyRing } from "../crypto/key-ring.js";
import { dataKeyOf, open, openForProcess, wholeSize } from "../crypto/sealed.js";
import { openStream, streamHeaderOf, streamSize } from "../crypto/sealed-stream.js";
import type { SealedFile, StreamHeader } from "../crypto/sealed-stream.js";

/** No header is longer. */
const START_BYTES = 512;
/** A document that is sealed as a whole is returned in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

export interface Keys {
  ring: KeyRing;
  /** The data key of a process. */
  dataKey(id: string): Promise<Key>;
}

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
    const header = this.#header;
    return header ? streamSize(header, this.#file.size) : wholeSize(this.#start, this.#file.size);
  }

  /** Throws `DecryptionError`, and the errors of the keys. Each returned piece was sealed at its position in this context. */
  async *pieces({ ring, dataKey }: Keys, context: string): AsyncGenerator<Buffer> {
    const header = this.#header;
    const id = this.dataKeyId;
    const key = id === undefined ? undefined : await dataKey(id);
    if (header) {
      yield* openStream(key ?? ring.require(header.keyId), header, this.#file, context);
      return;
    }
    const sealed = await this.#file.read(0, this.#file.size);
    const bytes = key ? openForProcess(key, sealed, context) : open(ring, sealed, context);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES);
  }

  get #header(): StreamHeader | undefined {
    return streamHeaderOf(this.#start);
  }
}
