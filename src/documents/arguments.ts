// Arguments of the store that TypeScript refuses and JavaScript lets through.
import { isUint8Array } from "node:util/types";
import type { Pieces } from "../crypto/sealed-stream.js";
import { refuseUnlessIterable, wrongArgument } from "../errors/arguments.js";
import type { Expected } from "./checked.js";

export function refuseUnlessReference(document: Expected): void {
  const { uri } = Object(document) as Partial<Expected>;
  if (typeof uri !== "string")
    throw wrongArgument(
      "reference",
      "must be { uri, sha256, size, mediaType }, as a document has it",
    );
}

export function refuseUnlessMediaType(mediaType: string): void {
  if (typeof mediaType !== "string")
    throw wrongArgument("mediaType", "must be a text, such as application/pdf");
}

export function refuseUnlessBytes(bytes: Uint8Array): void {
  if (!isUint8Array(bytes)) throw wrongArgument("bytes", "must be a Buffer or another Uint8Array");
}

/** Passes the pieces on. */
export async function* bytesOf(pieces: Pieces): AsyncGenerator<Uint8Array> {
  const problem = "must be an iterable of Buffers or other Uint8Arrays";
  refuseUnlessIterable(pieces, "pieces", problem);
  for await (const piece of pieces) {
    if (!isUint8Array(piece)) throw wrongArgument("pieces", problem);
    yield piece;
  }
}
