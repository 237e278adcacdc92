// `trustflow documents put|get|quarantine|release`: read and write the document store; unused uploads are released before they are
// deleted (docs/decisions/0018).
import { basename } from "node:path";
import type { Command } from "commander";
import { DocumentReference } from "../../contracts/shared/values.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import type { DocumentStore } from "../../documents/store.js";
import { documentStoreOf } from "../../config/document-store.js";
import { withDatabase } from "../context.js";
import { addCommand } from "../command.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import {
  printPieces,
  writeAnswer,
  writeData,
  writeJson,
  writeList,
  writeNote,
} from "../output/output.js";
import { openLarge } from "../files.js";
import { transfer } from "../output/progress.js";
import { formatOf, saveDocument } from "./saved-document.js";
import type { SavedFile } from "./saved-document.js";
import { terminal } from "../output/terminal.js";
import { documentIdOf, uriOf } from "../../documents/document-id.js";
import type { Pool } from "../../postgres/pool.js";

interface GetOptions {
  out?: string;
  json?: boolean;
}

export function addDocuments(program: Command): void {
  const documents = addCommand(program, "documents", {
    summary: "store and fetch documents; list and release those in quarantine",
    example: "trustflow documents put letter.pdf",
    isGroup: true,
  });
  addCommand(documents, "put <file>", {
    summary: "store a file and print its reference",
    arguments: { file: "the file" },
    details: "The reference is the document of an input. Without --json only the URI is printed.",
    example: "trustflow documents put letter.pdf --json",
  })
    .option("--media-type <type>", "media type; default for PDF, ZIP and XML: from the content")
    .action(async (file: string, { mediaType, json }: { mediaType?: string; json?: boolean }) => {
      const { size, start, pieces } = await openLarge(file, "file");
      const type = mediaType ?? formatOf(start)?.mediaType;
      if (type === undefined) {
        throw usageError(
          `--media-type: is required for ${file}: its content does not show the type`,
        );
      }
      const store = documentStoreOf(loadWithAccounts());
      const source = { name: basename(file), totalBytes: size, pieces: pieces() };
      const reference = await transfer(source, (content) => store.putStream(content, type));
      writeAnswer(json, reference, terminal`${reference.uri}`);
    });
  addCommand(documents, "get <uri...>", {
    summary: "fetch documents by their URI",
    arguments: { uri: 'document:…, as a status, a result or "documents put" shows it' },
    details: "One document goes to stdout without --out; several need --out.",
    example: "trustflow documents get document:0123456789abcdef0123456789abcdef --out letters",
  })
    .option("--out <directory>", "folder for the files, which are named by their IDs")
    .action(getDocuments);
  addQuarantine(documents);
}

function refuseMisspelt(uris: string[]): void {
  for (const uri of uris)
    if (!DocumentReference.shape.uri.safeParse(uri).success)
      throw usageError(`uri: ${uri} must be document:<32 hex digits>`);
}

async function getDocuments(uris: string[], { out, json }: GetOptions): Promise<void> {
  refuseMisspelt(uris);
  if (out === undefined) {
    const [uri, another] = uris;
    if (uri === undefined || another !== undefined || json || process.stdout.isTTY) {
      throw usageError("--out: is required for several documents, with --json and on a terminal");
    }
    const store = documentStoreOf(loadWithAccounts());
    await transfer(await sourceOf(store, uri), printPieces);
    return;
  }
  const store = documentStoreOf(loadWithAccounts());
  const saved: ({ uri: string } & SavedFile)[] = [];
  for (const uri of uris) {
    const name = uri.slice("document:".length);
    const source = await sourceOf(store, uri);
    const file = await transfer(source, (content) => saveDocument(out, name, content));
    saved.push({ uri, ...file });
  }
  writeList({ json }, saved, { FILE: "file", BYTES: "size", "SHA-256": "sha256" });
}

async function sourceOf(store: DocumentStore, uri: string) {
  return { name: uri, totalBytes: await store.sizeOf(uri), pieces: store.openRead({ uri }) };
}

interface Flags {
  json?: boolean;
}

const DAY_MS = 86_400_000;

function addQuarantine(documents: Command): void {
  addCommand(documents, "quarantine", {
    summary: "list unused uploads before they are deleted",
    details: `They can still be read. A document leaves quarantine when a process uses it or "trustflow documents release" names it.`,
    example: "trustflow documents quarantine --json",
  }).action((flags: Flags) =>
    withDatabase((pool, { retention }) => list(pool, retention.quarantineDays, flags)),
  );
  addCommand(documents, "release <uri...>", {
    summary: "take documents out of quarantine permanently",
    arguments: { uri: 'document:…, as "documents quarantine" shows it' },
    details:
      "They stay in the store and never go into quarantine again. Ends with 3 if one is not in quarantine.",
    example: "trustflow documents release document:0123456789abcdef0123456789abcdef",
  }).action((uris: string[], flags: Flags) => {
    refuseMisspelt(uris);
    return withDatabase((pool) => takeOut(pool, uris, flags));
  });
}

async function list(pool: Pool, days: number, { json }: Flags): Promise<void> {
  const { quarantined } = await import("../../cleanup/quarantine.js");
  const found = (await quarantined(pool)).map(({ id, storedAt, quarantinedAt }) => ({
    ...{ uri: uriOf(id), storedAt, quarantinedAt },
    removedFrom: new Date(quarantinedAt.getTime() + days * DAY_MS),
  }));
  if (found.length === 0 && !json) return writeNote(terminal`no document is in quarantine`);
  writeList({ json }, found, {
    URI: "uri",
    STORED: "storedAt",
    "IN QUARANTINE SINCE": "quarantinedAt",
    "REMOVED FROM": "removedFrom",
  });
}

async function takeOut(pool: Pool, uris: string[], { json }: Flags): Promise<void> {
  const { release } = await import("../../cleanup/quarantine.js");
  const released = (await release(pool, uris.map(documentIdOf))).map(uriOf);
  if (json) writeJson({ released });
  else for (const uri of released) writeData(terminal`${uri}`);
  const missing = uris.filter((uri) => !released.includes(uri));
  if (missing.length > 0)
    throw new CommandError(exitCodes.unknownId, `${missing.join(", ")}: not in quarantine`);
}
