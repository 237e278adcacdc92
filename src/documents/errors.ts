// The messages of these errors name the document's address only.

export class DocumentNotFound extends Error {
  override readonly name = "DocumentNotFound";

  constructor(uri: string) {
    super(`${uri} is not in the document store`);
  }
}

/** It was sealed with the data key of a process that was erased. */
export class DocumentErased extends Error {
  override readonly name = "DocumentErased";

  constructor(uri: string) {
    super(`${uri} was erased with its process`);
  }
}

/** The stored bytes are not what the reference describes, or cannot be opened. */
export class DocumentCorrupt extends Error {
  override readonly name = "DocumentCorrupt";

  constructor(uri: string, problem: string) {
    super(`${uri}: ${problem}`);
  }
}

/** Nothing was stored. */
export class DocumentStoreFull extends Error {
  override readonly name = "DocumentStoreFull";

  constructor(cause: Error) {
    super("The document store is full: free space on the disk of documents.directory", { cause });
  }
}

/** Says to the caller why a document is unusable; undefined for any other error. */
export function documentProblem(error: unknown): string | undefined {
  if (error instanceof DocumentNotFound) return "is not in the document store";
  if (error instanceof DocumentErased) return "was erased with its process";
  if (error instanceof DocumentCorrupt) return "is not what its reference says";
  return undefined;
}

/** The id is taken by other content; a stored document never changes. */
export class DocumentConflict extends Error {
  override readonly name = "DocumentConflict";

  constructor(uri: string) {
    super(`${uri} is already stored with other content`);
  }
}
