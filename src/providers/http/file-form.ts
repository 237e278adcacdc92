// Files as multipart/form-data. A Blob of Node 20 copies what it is given and streams it as one piece, so a document would be
// in memory three times; this one streams the bytes where they lie.

export interface NamedFile {
  name: string;
  bytes: Buffer;
  mediaType: string;
}

/** Every file under the same part name. */
export function fileForm(part: string, files: readonly NamedFile[]): FormData {
  const form = new FormData();
  for (const file of files) form.append(part, new FileInPlace(file));
  return form;
}

/** As large as what the form's encoder would otherwise copy it into. */
const PIECE_BYTES = 65_536;

class FileInPlace extends File {
  override readonly size: number;
  readonly #bytes: Buffer;

  constructor({ name, bytes, mediaType }: NamedFile) {
    super([], name, { type: mediaType });
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  override stream(): ReturnType<File["stream"]> {
    return ReadableStream.from(piecesOf(this.#bytes));
  }
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    yield bytes.subarray(start, start + PIECE_BYTES);
}
