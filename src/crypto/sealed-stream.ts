// Encryption at rest of documents of any size: in chunks, each authenticated at its position (docs/design.md §8). The construction
// is STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015), with a separate key for each file by HKDF, as in Tink.
// Header: version (1 byte), length of the key id (1 byte), key id, chunk size (4), salt (32), nonce prefix (7). Then the chunks,
// each with its tag (16): every chunk has the size that the header gives, and the last chunk has that size at most.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { DecryptionError } from "./errors.js";
import type { Key } from "./key-ring.js";
import { STREAM_OF_PROCESS, STREAM_OF_RING } from "./sealed.js";

/** Bytes, in pieces of any size. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A sealed file that is read at any position. */
export interface SealedFile {
  readonly size: number;
  /** This many bytes from this position; fewer only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
}

/** The key to seal with: the active key of a ring, or the data key of a process. */
export interface SealingKey {
  of: "ring" | "process";
  key: Key;
}

export interface StreamHeader {
  keyId: string;
  chunkBytes: number;
  /** The whole header; the key of the file depends on it. */
  bytes: Buffer;
}

const versions = { ring: STREAM_OF_RING, process: STREAM_OF_PROCESS };
const KEY_BYTES = 32;
const PREFIX_BYTES = 7;
const TAG_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
/** A reader refuses a larger size, so that a changed header cannot make it allocate more memory. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** Yields the header, then each chunk. The file opens only in the same context. */
export async function* sealStream(
  { of, key }: SealingKey,
  plaintext: Pieces,
  context: string,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<Buffer> {
  const id = Buffer.from(key.id);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(chunkBytes);
  const fresh = randomBytes(KEY_BYTES + PREFIX_BYTES);
  const header = Buffer.concat([Buffer.of(versions[of], id.length), id, size, fresh]);
  const chunks = new ChunkCipher(key, header, context);
  yield header;
  let number = 0;
  for await (const { bytes, isLast } of chunksOf(plaintext, chunkBytes))
    yield chunks.seal(bytes, number++, isLast);
}

/** `start`: the first 512 bytes. Throws `DecryptionError` for a value that is not sealed in chunks. */
export function streamHeaderOf(start: Buffer): StreamHeader {
  const [version, idLength = 0] = start;
  if (version !== STREAM_OF_RING && version !== STREAM_OF_PROCESS)
    throw new DecryptionError("not a sealed stream");
  const sizeAt = 2 + idLength;
  const end = sizeAt + 4 + KEY_BYTES + PREFIX_BYTES;
  if (start.length < end) throw new DecryptionError("the header is cut short");
  const chunkBytes = start.readUInt32BE(sizeAt);
  if (chunkBytes < 1 || chunkBytes > MAX_CHUNK_BYTES)
    throw new DecryptionError("the header has no valid chunk size");
  const keyId = start.subarray(2, sizeAt).toString();
  return { keyId, chunkBytes, bytes: start.subarray(0, end) };
}

/** The size of the plaintext, if the file is complete. */
export function streamSize({ bytes, chunkBytes }: StreamHeader, sealedBytes: number): number {
  const body = sealedBytes - bytes.length;
  return body - Math.ceil(body / (chunkBytes + TAG_BYTES)) * TAG_BYTES;
}

/** Opens the chunks of a sealed file in any order. Throws `DecryptionError` if a chunk was not sealed at this position and context. */
export class OpenedStream {
  readonly chunkBytes: number;
  readonly chunks: number;
  readonly #file: SealedFile;
  readonly #cipher: ChunkCipher;
  readonly #bodyAt: number;

  constructor(key: Key, header: StreamHeader, file: SealedFile, context: string) {
    this.chunkBytes = header.chunkBytes;
    this.#bodyAt = header.bytes.length;
    this.chunks = Math.max(1, Math.ceil((file.size - this.#bodyAt) / this.#step));
    this.#file = file;
    this.#cipher = new ChunkCipher(key, header.bytes, context);
  }

  async chunk(number: number): Promise<Buffer> {
    const sealed = await this.#file.read(this.#bodyAt + number * this.#step, this.#step);
    return this.#cipher.open(sealed, number, number === this.chunks - 1);
  }

  get #step(): number {
    return this.chunkBytes + TAG_BYTES;
  }
}

/** The plaintext, chunk by chunk. Only the last chunk proves that the file has its original end. */
export async function* openStream(
  ...[key, header, file, context]: ConstructorParameters<typeof OpenedStream>
): AsyncGenerator<Buffer> {
  const stream = new OpenedStream(key, header, file, context);
  for (let number = 0; number < stream.chunks; number++) yield await stream.chunk(number);
}

class ChunkCipher {
  readonly #key: Buffer;
  readonly #prefix: Buffer;

  /** The key depends on header and context, so that no chunk opens after a change of either. */
  constructor({ bytes }: Key, header: Buffer, context: string) {
    const prefixAt = header.length - PREFIX_BYTES;
    const salt = header.subarray(prefixAt - KEY_BYTES, prefixAt);
    const info = Buffer.concat([header, Buffer.from(context)]);
    this.#key = Buffer.from(hkdfSync("sha256", bytes, salt, info, KEY_BYTES));
    this.#prefix = header.subarray(prefixAt);
  }

  seal(plaintext: Uint8Array, number: number, isLast: boolean): Buffer {
    const nonce = this.#nonce(number, isLast);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES });
    return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  open(sealed: Buffer, number: number, isLast: boolean): Buffer {
    const tagAt = sealed.length - TAG_BYTES;
    if (tagAt < 0) throw new DecryptionError("the ciphertext is cut short");
    const nonce = this.#nonce(number, isLast);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sealed.subarray(tagAt));
    const plaintext = decipher.update(sealed.subarray(0, tagAt));
    try {
      decipher.final();
    } catch {
      throw new DecryptionError(
        `chunk ${number} does not belong to this key, context and place, or was changed`,
      );
    }
    return plaintext;
  }

  /** The nonce marks the last chunk, so a file that was cut between two chunks does not open. */
  #nonce(number: number, isLast: boolean): Buffer {
    const nonce = Buffer.alloc(PREFIX_BYTES + 5);
    this.#prefix.copy(nonce);
    nonce.writeUInt32BE(number, PREFIX_BYTES);
    nonce.writeUInt8(isLast ? 1 : 0, PREFIX_BYTES + 4);
    return nonce;
  }
}

/** Chunks of one size; the last may be shorter, or empty if there are no bytes. They share one buffer: use each before the next. */
async function* chunksOf(
  pieces: Pieces,
  size: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  const chunk = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      if (filled === size) {
        yield { bytes: chunk, isLast: false };
        filled = 0;
      }
      const part = piece.subarray(at, at + size - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield { bytes: chunk.subarray(0, filled), isLast: true };
}
