// One stored document, sealed in chunks (crypto/sealed-stream.ts).
import type { Key, KeyRing } from "../crypto/key-ring.js";
import { dataKeyOf } from "../crypto/sealed.js";
import { openStream, streamHeaderOf, streamSize } from "../crypto/sealed-stream.js";
import type { SealedFile } from "../crypto/sealed-stream.js";

/** No header is longer. */
const START_BYTES = 512;

export interface Keys {
  ring: KeyRing;
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
