// Compares a document with its reference while its bytes are read.
import { createHash } from "node:crypto";
import type { DocumentReference } from "../contracts/shared/values.js";
import { DocumentCorruptError } from "../errors/index.js";

/** A document's address, and the known fields of its reference. */
export type Expected = Pick<DocumentReference, "uri"> &
  Partial<Pick<DocumentReference, "sha256" | "size">>;

export class ContentCount {
  readonly #hash = createHash("sha256");
  size = 0;
  /** Empty until the last piece was read. */
  sha256 = "";

  async *of<P extends Uint8Array>(pieces: Iterable<P> | AsyncIterable<P>): AsyncGenerator<P> {
    for await (const piece of pieces) {
      this.#hash.update(piece);
      this.size += piece.length;
      yield piece;
    }
    this.sha256 = this.#hash.digest("hex");
  }
}

/** Passes the pieces on; the last one only if size and SHA-256 match the reference. Throws `DocumentCorruptError`. */
export async function* checked(
  pieces: AsyncIterable<Buffer>,
  { uri, size, sha256 }: Expected,
): AsyncGenerator<Buffer> {
  const count = new ContentCount();
  let held: Buffer | undefined;
  for await (const piece of count.of(pieces)) {
    if (held) yield held;
    held = piece;
  }
  if (size !== undefined && count.size !== size)
    throw new DocumentCorruptError(uri, `has ${count.size} bytes instead of ${size}`);
  if (sha256 !== undefined && count.sha256 !== sha256)
    throw new DocumentCorruptError(uri, "its SHA-256 differs");
  if (held) yield held;
}

export async function joined(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return all.length === 1 && all[0] ? all[0] : Buffer.concat(all);
}
