// The document store for commands, and the check of a document URI.
import { required, ringOf } from "../config.js";
import type { Config } from "../config.js";
import { DocumentReference } from "../contracts/shared/values.js";
import { DirectoryDriver } from "../documents/directory-driver.js";
import { DocumentStore } from "../documents/store.js";
import { CommandError, exitCodes } from "./output/exit.js";

export function documentStoreOf(config: Config): DocumentStore {
  const directory = required(config.documents.directory, "documents.directory");
  return new DocumentStore(new DirectoryDriver(directory), ringOf(config, "documents"));
}

export function refuseMisspelt(uris: string[]): void {
  for (const uri of uris) {
    if (!DocumentReference.shape.uri.safeParse(uri).success) {
      throw new CommandError(exitCodes.invalid, `uri: ${uri} must be document:<32 hex digits>`);
    }
  }
}
