// `trustflow documents put|get|quarantine|release`: read and write the document store.
import { basename } from "node:path";
import type { Command } from "commander";
import { loadWithAccounts } from "../../providers/accounts.js";
import type { DocumentStore } from "../../documents/store.js";
import { documentStoreOf } from "../../config/document-store.js";
import { refuseMisspelt } from "../context.js";
import { addCommand } from "../command.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { printPieces, table, writeData, writeJson } from "../output/output.js";
import { openLarge } from "../files.js";
import { transfer } from "../output/progress.js";
import { formatOf, saveDocument } from "./saved-document.js";
import type { SavedFile } from "./saved-document.js";
import { addQuarantine } from "./quarantine.js";
import { terminal } from "../output/terminal.js";

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
        throw new CommandError(
          exitCodes.invalid,
          `--media-type: is required for ${file}: its content does not show the type`,
        );
      }
      const store = documentStoreOf(loadWithAccounts());
      const source = { name: basename(file), totalBytes: size, pieces: pieces() };
      const reference = await transfer(source, (content) => store.putStream(content, type));
      if (json) writeJson(reference);
      else writeData(terminal`${reference.uri}`);
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

async function getDocuments(uris: string[], { out, json }: GetOptions): Promise<void> {
  refuseMisspelt(uris);
  if (out === undefined) {
    const [uri, another] = uris;
    if (uri === undefined || another !== undefined || json || process.stdout.isTTY) {
      throw new CommandError(
        exitCodes.invalid,
        "--out: is required for several documents, with --json and on a terminal",
      );
    }
    const store = documentStoreOf(loadWithAccounts());
    await transfer(await sourceOf(store, uri), printPieces);
    return;
  }
  const store = documentStoreOf(loadWithAccounts());
  const saved: SavedFile[] = [];
  for (const uri of uris) {
    const name = uri.slice("document:".length);
    const source = await sourceOf(store, uri);
    saved.push(await transfer(source, (content) => saveDocument(out, name, uri, content)));
  }
  sayFiles(saved, json);
}

async function sourceOf(store: DocumentStore, uri: string) {
  return { name: uri, totalBytes: await store.sizeOf(uri), pieces: store.openRead({ uri }) };
}

function sayFiles(files: SavedFile[], json: boolean | undefined): void {
  if (json) writeJson(files);
  else
    writeData(
      table(
        ["FILE", "BYTES", "SHA-256"],
        files.map(({ file, size, sha256 }) => [file, String(size), sha256]),
      ),
    );
}
