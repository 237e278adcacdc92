// Files as multipart/form-data. A Blob of Node 20 copies what it is given and streams it as one piece, so a document would be
// in memory three times; this one streams the bytes without a copy, or reads them while it sends.

/** The bytes, or their number and a function that reads them from the start. */
export type NamedFile = { name: string; mediaType: string } & (
  | { bytes: Buffer }
  | { size: number; read(): AsyncIterable<Uint8Array> }
);

/** Every file under the same part name. The fields come first: a server that reads the form as a stream has them before the file. */
export function fileForm(
  part: string,
  files: readonly NamedFile[],
  fields: Readonly<Record<string, unknown>> = {},
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  for (const file of files) form.append(part, new FileInPlace(file));
  return form;
}

/** As large as what the form's encoder would otherwise copy it into. */
const PIECE_BYTES = 65_536;

class FileInPlace extends File {
  override readonly size: number;
  readonly #pieces: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

  constructor(file: NamedFile) {
    super([], file.name, { type: file.mediaType });
    this.#pieces = "bytes" in file ? () => piecesOf(file.bytes) : () => file.read();
    this.size = "bytes" in file ? file.bytes.length : file.size;
  }

  override stream(): ReturnType<File["stream"]> {
    return ReadableStream.from(this.#pieces());
  }
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    yield bytes.subarray(start, start + PIECE_BYTES);
}
