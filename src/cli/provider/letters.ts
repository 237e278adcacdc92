// `trustflow provider letters`: the letters that EviPost has of an account, with their documents (P2 §2.5, §4.1).
import type { Command } from "commander";
import { isPdf } from "../../documents/pdf.js";
import type { PostalItem } from "../../providers/evi-post/client.js";
import { collect, wholeNumber } from "../command.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeJson, writeNote, writeTable } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { addAccountCommand, answerOf, providerAccount, requireUuid } from "./call.js";
import type { AccountOptions } from "./call.js";
import { ofFile, savedAs } from "./saved.js";
import type { IdentifiedFile } from "./saved.js";

interface LettersOptions extends AccountOptions {
  id?: string[];
  lookupKey?: string[];
  offset: number;
  limit: number;
  documents?: string;
}

export function addLetters(provider: Command): void {
  addAccountCommand(provider, "letters", {
    summary: "list the letters that EviPost has of an account, in the order of their creation",
    details: `--json prints all members, which may hold personal data. Without --id and --lookup-key it lists all letters of the account.
--documents also fetches the PDF of each listed letter, to compare it with what was submitted: the SHA-256 is that of the document
that the process names.`,
    example: `trustflow provider letters --lookup-key case-2026-0042
trustflow provider letters --id 6f9b7c1e-3d52-4a08-9f35-5b7f1f2b9c11 --documents at-evipost
trustflow provider letters --offset 100 --json`,
  })
    .option("--id <id>", "only the letter with this id (uniqueId); may be repeated", collect)
    .option("--lookup-key <key>", "only letters with this lookup key; may be repeated", collect)
    .option("--offset <n>", "letters to skip", wholeNumber(), 0)
    .option("--limit <n>", "maximum number of letters", wholeNumber(1), 100)
    .option("--documents <dir>", "save the PDF of each letter in this folder")
    .action(letters);
}

async function letters(options: LettersOptions): Promise<void> {
  const { account: name, id, lookupKey, offset, limit, documents: folder, json } = options;
  requireUuid("--id", ...(id ?? []));
  if (lookupKey?.some((key) => key === "" || key.includes(",")))
    throw new CommandError(exitCodes.invalid, "--lookup-key: must not be empty or have a comma");
  const { account } = providerAccount("evi-post", name);
  const { query } = await import("../../providers/evi-post/client.js");
  const { results, totalMatches } = await answerOf(
    query(account, {
      ...(id && { uniqueIds: id }),
      ...(lookupKey && { lookupKeys: lookupKey }),
      ...(folder !== undefined && { includeDocument: true }),
      ...{ offset, limit },
    }),
  );
  const files = folder === undefined ? [] : await savedLetters(results, folder);
  const fileOf = new Map(files.map((file) => [file.id, file]));
  if (json) {
    const shown = results.map((item) => ({ ...item, ...ofFile(fileOf.get(item.evidenceId)) }));
    writeJson({ totalMatches, results: folder === undefined ? shown : shown.map(withoutPdf) });
  } else {
    const headings = ["ID", "STATE", "OUTCOME", "CREATED", "LOOKUP KEY"];
    writeTable(
      folder === undefined ? headings : [...headings, "FILE", "SHA-256"],
      results.map(({ evidenceId, state, outcome, creationDate, lookupKey: key }) => {
        const file = fileOf.get(evidenceId);
        return [evidenceId, state, outcome, creationDate, key, file?.file, file?.sha256];
      }),
    );
  }
  const shown = offset + results.length;
  if (shown < totalMatches && results.length > 0)
    writeNote(terminal`More of ${totalMatches} letters: --offset ${shown} shows them`);
}

/** The name of the member that holds the PDF is not shown (P2 §4.1): it is the one whose text is a PDF in base64. */
async function savedLetters(items: PostalItem[], folder: string): Promise<IdentifiedFile[]> {
  const saved: IdentifiedFile[] = [];
  for (const { evidenceId: id, providerFields = {} } of items) {
    const pdf = Object.values(providerFields).flatMap((value) => pdfIn(value) ?? [])[0];
    if (!pdf) throw new CommandError(exitCodes.failed, `EviPost answered without the PDF of ${id}`);
    saved.push(await savedAs(folder, id, [pdf]));
  }
  return saved;
}

function pdfIn(value: unknown): Buffer | undefined {
  if (typeof value !== "string") return undefined;
  const bytes = Buffer.from(value, "base64");
  return isPdf(bytes) ? bytes : undefined;
}

/** The PDF is in its file. */
function withoutPdf(item: PostalItem): PostalItem {
  const { providerFields = {}, ...named } = item;
  const others = Object.entries(providerFields).filter(([, value]) => !pdfIn(value));
  return others.length === 0 ? named : { ...named, providerFields: Object.fromEntries(others) };
}
