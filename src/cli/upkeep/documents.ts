// `trustflow documents put|get|quarantine|release` and `trustflow affidavits`: read and write the document store.
import { basename } from "node:path";
import type { Command } from "commander";
import { loadWithAccounts } from "../../providers/accounts.js";
import { contractOf } from "../../contracts/registry.js";
import type { ProcessResult } from "../../contracts/shared/status.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { DocumentStore } from "../../documents/store.js";
import { documentStoreOf } from "../../config/document-store.js";
import { hasCapability, refuseMisspelt, withTrustflow } from "../context.js";
import { addCommand } from "../command.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { resultOf } from "../processes/follow.js";
import { printPieces, table, writeData, writeJson, writeNote } from "../output/output.js";
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

export function addAffidavits(program: Command): void {
  addCommand(program, "affidavits <id>", {
    summary: "save the affidavits of a process that has ended",
    details: `The affidavits are part of the result; those of a batch are one archive, as ZIP. If the process is still open,
--wait waits for its end; without --wait the command ends with 1.`,
    example: `trustflow affidavits order-7 --out evidence
trustflow affidavits sendNoticeBatch/campaign-7 --out evidence`,
  })
    .requiredOption("--out <directory>", "folder for the files")
    .option("--wait", "wait for the end of the process first")
    .action(
      async (id: string, { out, wait, json }: { out: string; wait?: boolean; json?: boolean }) => {
        await withTrustflow(async (trustflow) => {
          const handle = await trustflow.find(id);
          if (!hasCapability(handle, "requestAffidavit")) {
            throw new CommandError(
              exitCodes.invalid,
              `${handle.workflowId} has no affidavits: only certified post and certified notices have them; "trustflow result" shows its documents`,
            );
          }
          if (!wait && (await handle.isOpen())) {
            throw new CommandError(
              exitCodes.failed,
              `${handle.workflowId} has not ended and is still collecting affidavits: use --wait`,
            );
          }
          const saved: SavedFile[] = [];
          for (const [name, document] of namedAffidavits(await resultOf(handle, {}))) {
            const { uri, size: totalBytes } = document;
            const source = { name, totalBytes, pieces: trustflow.documents.openRead(document) };
            const save = (content: AsyncIterable<Buffer>) => saveDocument(out, name, uri, content);
            saved.push(await transfer(source, save));
          }
          if (saved.length === 0)
            writeNote(
              contractOf(handle.process).items
                ? terminal`${handle.workflowId} has ended without an archive of affidavits: a batch has one only with "collectAffidavits"`
                : terminal`${handle.workflowId} has ended without affidavits`,
            );
          if (json || saved.length > 0) sayFiles(saved, json);
        });
      },
    );
}

/**
 * Names a file for each affidavit of a result, or for the archive of a batch. A regenerated affidavit may reuse the id of the previous one,
 * so each version has a name of its own (docs/reading-the-specification.md §2).
 */
export function namedAffidavits(
  result: Pick<ProcessResult, "id" | "documents"> & { archive?: DocumentReference | undefined },
): [string, DocumentReference][] {
  const { id, documents, archive } = result;
  const seen = new Map<string, number>();
  const files = documents
    .filter(({ kind }) => kind === "affidavit")
    .map(({ uniqueId, document }): [string, DocumentReference] => {
      const name = `affidavit-${plainName(uniqueId ?? document.uri)}`;
      const version = (seen.get(name) ?? 0) + 1;
      seen.set(name, version);
      return [version === 1 ? name : `${name}-${version}`, document];
    });
  return archive ? [...files, [`affidavits-${plainName(id)}`, archive]] : files;
}

function plainName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^\.+/, "-")
    .slice(0, 100);
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
