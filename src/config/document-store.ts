// The document store, as worker, commands and applications take it.
import { DirectoryDriver } from "../documents/directory-driver.js";
import { DocumentStore } from "../documents/store.js";
import type { WhileOwner } from "../documents/store.js";
import { required, ringOf } from "./config.js";
import type { Config } from "./config.js";

/** Throws if `documents.directory` or `keys.documents` is not configured. */
export function documentStoreOf(config: Config, whileOwner?: WhileOwner): DocumentStore {
  const directory = required(config.documents.directory, "documents.directory");
  const ring = ringOf(config, "documents");
  return new DocumentStore(new DirectoryDriver(directory), ring, whileOwner);
}
