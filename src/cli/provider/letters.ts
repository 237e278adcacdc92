// `trustflow provider letters`: the letters that EviPost has of an account, with their documents (P2 §2.5, §4.1).
import type { Command } from "commander";
import { isPdf } from "../../documents/content.js";
import { collect, wholeNumber } from "../command.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import { writeJson, writeList, writeNote } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import {
  addAccountCommand,
  answerOf,
  fileColumns,
  providerAccount,
  requireUuid,
  savedAs,
  withFiles,
} from "./call.js";
import type { AccountOptions, Saved } from "./call.js";

interface LettersOptions extends AccountOptions {
  id?: string[];
  lookupKey?: string[];
  offset: number;
  limit: number;
  out?: string;
}

export function addLetters(provider: Command): void {
  addAccountCommand(provider, "letters", {
    summary: "list the letters that EviPost has of an account, in the order of their creation",
    details: `--json prints all members, which may hold personal data. Without --id and --lookup-key it lists all letters of the account.
--out also fetches the PDF of each listed letter, to compare it with what was submitted: the SHA-256 is that of the document
that the process names.`,
    example: `trustflow provider letters --lookup-key case-2026-0042
trustflow provider letters --id 6f9b7c1e-3d52-4a08-9f35-5b7f1f2b9c11 --out at-evipost
trustflow provider letters --offset 100 --json`,
  })
    .option("--id <id>", "only the letter with this id (uniqueId); may be repeated", collect)
    .option("--lookup-key <key>", "only letters with this lookup key; may be repeated", collect)
    .option("--offset <n>", "letters to skip", wholeNumber(), 0)
    .option("--limit <n>", "maximum number of letters", wholeNumber(1), 100)
    .option("--out <dir>", "save the PDF of each letter in this folder")
    .action(letters);
}

async function letters(options: LettersOptions): Promise<void> {
  const { account: name, id, lookupKey, offset, limit, out: folder, json } = options;
  requireUuid("--id", ...(id ?? []));
  if (lookupKey?.some((key) => key === "" || key.includes(",")))
    throw usageError("--lookup-key: must not be empty or have a comma");
  const { account } = providerAccount("evi-post", name);
  const { query } = await import("../../providers/evi-post/client.js");
  const { results, totalMatches } = await answerOf(
    query(account, {
      ...(id && { uniqueIds: id }),
      ...(lookupKey && { lookupKeys: lookupKey }),
      ...{ offset, limit },
    }),
  );
  const files: Saved[] = [];
  if (folder !== undefined)
    for (const { evidenceId } of results) files.push(await saveLetter(evidenceId, folder));
  const items = withFiles(results, files);
  const columns = { ID: "evidenceId", STATE: "state", OUTCOME: "outcome" } as const;
  const more = { CREATED: "creationDate", "LOOKUP KEY": "lookupKey" } as const;
  if (json) writeJson({ totalMatches, results: items });
  else writeList({}, items, { ...columns, ...more, ...(folder !== undefined && fileColumns) });
  const shown = offset + results.length;
  if (shown < totalMatches && results.length > 0)
    writeNote(terminal`More of ${totalMatches} letters: --offset ${shown} shows them`);

  /** One PDF in an answer, because a page of them may be too large for one. */
  async function saveLetter(evidenceId: string, at: string): Promise<Saved> {
    const found = await answerOf(
      query(account, { uniqueIds: [evidenceId], includeDocument: true, limit: 1 }),
    );
    const item = found.results.find((one) => one.evidenceId === evidenceId);
    // The name of the member that holds the PDF is not shown (P2 §4.1): it is the one whose text is a PDF in base64.
    const pdf = Object.values(item?.providerFields ?? {}).flatMap((value) => pdfIn(value) ?? [])[0];
    if (!pdf)
      throw new CommandError(exitCodes.failed, `EviPost answered without the PDF of ${evidenceId}`);
    return savedAs(at, evidenceId, [pdf]);
  }
}

function pdfIn(value: unknown): Buffer | undefined {
  if (typeof value !== "string") return undefined;
  const bytes = Buffer.from(value, "base64");
  return isPdf(bytes) ? bytes : undefined;
}
