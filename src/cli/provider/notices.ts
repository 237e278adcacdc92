// `trustflow provider notices`, `attachments` and `affidavits`: what EviNotice has of an account (P2 §2.7, §2.10, §4.2, §4.3, §8).
import type { Command } from "commander";
import { parseJson, shellWord } from "../../contracts/shared/text.js";
import { collect, wholeNumber } from "../command.js";
import { documentStoreOf } from "../../config/document-store.js";
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
import type { Cursor } from "../../providers/evi-notice/client.js";

interface NoticesOptions extends AccountOptions {
  lookupKey?: string[];
  owner?: string;
  linkedId?: string;
  state?: string;
  outcome?: string;
  limit: number;
  cursor?: Cursor;
}

export function addNotices(provider: Command): void {
  addAccountCommand(provider, "notices", {
    summary: "list the notices that EviNotice has of an account",
    details: `--json prints all members, which may hold personal data. A page has at most 100 notices; --cursor asks for the next one.
Which ids --linked-id takes, the provider says; it may be the id of a batch.`,
    example: `trustflow provider notices --state Failed
trustflow provider notices --outcome Refused --owner sender@example.com --json
trustflow provider notices --linked-id 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11`,
  })
    .option("--lookup-key <key>", "only notices with this lookup key; may be repeated", collect)
    .option("--owner <email>", "only notices of the owner with this e-mail address")
    .option("--linked-id <id>", "only notices that are linked to this id")
    .option("--state <state>", "only notices in this state: Sent, Failed, Closed")
    .option("--outcome <outcome>", "only notices with this outcome: Read, Refused")
    .option("--limit <n>", "maximum number of notices, at most 100", wholeNumber(1, 100), 100)
    .option("--cursor <cursor>", "the page after the one that named this cursor", cursorIn)
    .action(notices);
}

async function notices(options: NoticesOptions): Promise<void> {
  const { account: name, json, lookupKey: lookupKeys, ...filter } = options;
  if (filter.linkedId !== undefined) requireUuid("--linked-id", filter.linkedId);
  const { account } = providerAccount("evi-notice", name);
  const { query } = await import("../../providers/evi-notice/client.js");
  const page = await answerOf(query(account, { ...filter, ...(lookupKeys && { lookupKeys }) }));
  if (json) return writeJson(page);
  const columns = { ID: "id", STATE: "state", OUTCOME: "outcome", REFUSED: "refusedOn" } as const;
  writeList({}, page.results, { ...columns, "LOOKUP KEY": "lookupKey" });
  if (page.cursor !== undefined)
    writeNote(
      terminal`There may be more: --cursor ${shellWord(JSON.stringify(page.cursor))} shows them`,
    );
}

/** As JSON, which tells a text from a number; any other text is one. */
function cursorIn(text: string): Cursor {
  try {
    const value = parseJson(text);
    if (typeof value === "string" || Number.isSafeInteger(value)) return value as Cursor;
  } catch {
    // The provider's own text.
  }
  return text;
}

export function addAttachments(provider: Command): void {
  addAccountCommand(provider, "attachments <batch-id>", {
    summary: "list the attachments that EviNotice has of a batch",
    arguments: {
      "batch-id": 'the provider\'s id of the batch: "trustflow status" shows it as batchId',
    },
    details: `--out also fetches each file, to compare it with what was sent: the SHA-256 is that of the document in the batch's result. It needs
the document store.`,
    example:
      "trustflow provider attachments 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11 --out at-evinotice",
  })
    .option("--out <dir>", "save each attachment in this folder")
    .action(attachments);
}

async function attachments(
  batchId: string,
  { account: name, out, json }: AccountOptions & { out?: string },
): Promise<void> {
  requireUuid("batch-id", batchId);
  const { account, config } = providerAccount("evi-notice", name);
  const eviNotice = await import("../../providers/evi-notice/client.js");
  const listed = await answerOf(eviNotice.listBatchAttachments(account, { batchId }));
  const files: Saved[] = [];
  if (out !== undefined)
    for (const { id: attachmentId } of listed)
      await documentStoreOf(config).withSpool(async (spool) => {
        const file = await answerOf(
          eviNotice.downloadBatchAttachment(account, { batchId, attachmentId }, spool),
        );
        files.push(await savedAs(out, attachmentId, file.pieces()));
      });
  const items = withFiles(listed, files);
  const columns = { ID: "id", NAME: "fileName", TYPE: "mimeType", SIZE: "size" } as const;
  writeList({ json }, items, { ...columns, ...(out !== undefined && fileColumns) });
}

export function addAffidavits(provider: Command): void {
  addAccountCommand(provider, "affidavits <notice>", {
    summary: "list the affidavits that EviNotice has of a notice, of a batch too",
    arguments: {
      notice:
        'its id at the provider: "trustflow status" shows it as uniqueId, "trustflow recipients" that of each recipient',
    },
    details: `--out also fetches the PDFs, from one ZIP. It needs the document store.`,
    example: "trustflow provider affidavits 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11 --out evidence",
  })
    .option("--out <dir>", "save each affidavit in this folder")
    .action(affidavits);
}

async function affidavits(
  id: string,
  { account: name, out, json }: AccountOptions & { out?: string },
): Promise<void> {
  requireUuid("notice", id);
  const { account, config } = providerAccount("evi-notice", name);
  const eviNotice = await import("../../providers/evi-notice/client.js");
  const { affidavits: listed = [] } = await answerOf(
    eviNotice.get(account, { id, includeAffidavits: true }),
  );
  const files: Saved[] = [];
  if (out !== undefined)
    await documentStoreOf(config).withSpool(async (spool) => {
      const affidavitIds = listed.map((one) => one.id);
      const found = await answerOf(
        eviNotice.downloadAffidavits(account, { id, affidavitIds }, spool),
      );
      for (const file of found)
        files.push(await savedAs(out, file.id ?? file.fileName, file.pieces()));
    });
  if (json) return writeJson({ affidavits: listed, ...(out !== undefined && { files }) });
  writeList({}, listed, { ID: "id", KIND: "kind", DATE: "date", DESCRIPTION: "description" });
  if (files.length > 0) writeList({}, files, fileColumns);
}
