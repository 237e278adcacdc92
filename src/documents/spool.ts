// Keeps a download until it can be stored: its id depends on its content, so all of it must be read first. The download is a file
// without a name on the documents' disk, sealed with a key that is only in memory, so a crash leaves nothing (docs/design.md §8).
import { keyOf } from "../crypto/key-ring.js";
import { OpenedStream, sealStream, streamHeaderOf } from "../crypto/sealed-stream.js";
import { ContentCount } from "./checked.js";
import type { DocumentDriver, ScratchFile } from "./driver.js";

const CONTEXT = "spool";

export class SpooledFile {
  readonly size: number;
  readonly sha256: string;
  readonly #stream: OpenedStream;

  constructor(stream: OpenedStream, { size, sha256 }: ContentCount) {
    this.size = size;
    this.sha256 = sha256;
    this.#stream = stream;
  }

  /** The bytes from `start` up to, and without, `end`. Each call reads anew; calls may run concurrently. */
  async *pieces(start = 0, end = this.size): AsyncGenerator<Buffer> {
    const { chunkBytes } = this.#stream;
    for (let at = start; at < end;) {
      const number = Math.floor(at / chunkBytes);
      const chunk = await this.#stream.chunk(number);
      const from = at - number * chunkBytes;
      const piece = chunk.subarray(from, from + end - at);
      yield piece;
      at += piece.length;
    }
  }
}

export class Spool {
  readonly #driver: DocumentDriver;
  readonly #files: ScratchFile[] = [];

  constructor(driver: DocumentDriver) {
    this.#driver = driver;
  }

  async keep(pieces: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
    const file = await this.#driver.scratch();
    this.#files.push(file);
    const key = keyOf(CONTEXT);
    const count = new ContentCount();
    for await (const sealed of sealStream({ of: "ring", key }, count.of(pieces), CONTEXT))
      await file.append(sealed);
    const header = streamHeaderOf(await file.read(0, 512));
    return new SpooledFile(new OpenedStream(key, header, file, CONTEXT), count);
  }

  /** Deletes all files of the spool. */
  async close(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
  }
}
