// `trustflow recipients`: the notices of a batch while it runs, and what came about one of them.
import type { Command } from "commander";
import type { ItemEvent } from "../../batch/items/items.js";
import { countByWord } from "../../batch/items/shown.js";
import { count, csvLine } from "../../contracts/shared/text.js";
import type { EventAbout } from "../../contracts/shared/provider-event.js";
import { inPieces } from "../../batch/recipients/pieces.js";
import { reportColumns } from "../../batch/recipients/report.js";
import type { ReportRow } from "../../batch/recipients/report.js";
import { addCommand, csvOption, wholeNumber } from "../command.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import {
  cellOf,
  printPieces,
  writeJsonLine,
  writeList,
  writeNote,
  writeTable,
} from "../output/output.js";
import type { ListFormat } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import {
  givenList,
  noticeRow,
  noticesByLine,
  noticesOf,
  recipientRows,
  withNotices,
  withoutLineNote,
} from "./rows.js";
import type { KnownNotices, NoticeFilter } from "./rows.js";

interface RecipientsOptions extends NoticeFilter, ListFormat {
  history?: string;
  full?: boolean;
  addresses?: boolean;
  limit: number;
}

export function addRecipients(program: Command): void {
  addCommand(program, "recipients <id>", {
    summary: "list the recipients of a batch of notices with what is known of each",
    arguments: { id: "the batch: its business id, or sendNoticeBatch/<business id>" },
    details: `A recipient is the line in the list and the id of its notice. --addresses adds the addresses, in the order of the list;
it reads the list from the document store, and counts apart the notices of which the provider has not yet said whose they are;
without it they are in the list. --json prints JSON Lines. --csv and --json print all recipients, a table the first ones.
--history prints what the provider reported about one notice: its id, or the line of its recipient. With --full it also prints
what the callbacks say about the notice and its reader, such as address and browser: personal data, for which it needs keys.inbox.`,
    example: `trustflow recipients campaign-7 --state refused
trustflow recipients campaign-7 --open --addresses --csv
trustflow recipients campaign-7 --history 14`,
  })
    .option(
      "--state <state>",
      "only notices in this state, or of this word of the totals: closed, read",
    )
    .option("--outcome <outcome>", "only notices that ended with this outcome")
    .option("--open", "only notices that are not closed")
    .option("--addresses", "add address and lookup key of each recipient")
    .option("--history <notice>", "the reports about one notice: its id, or its line in the list")
    .option("--full", "with --history: also what is said about the notice and its reader")
    .option("--limit <n>", "maximum number of rows in a table", wholeNumber(1), 100)
    .addOption(csvOption())
    .action((id: string, options: RecipientsOptions) => {
      if (options.full && options.history === undefined)
        throw usageError("--full: can only be used with --history");
      return withNotices(id, (known) =>
        options.history === undefined
          ? list(known, options)
          : history(known, options.history, options),
      );
    });
}

type Row = Partial<ReportRow>;

async function list(known: KnownNotices, options: RecipientsOptions): Promise<void> {
  const rows = options.addresses ? addressed(known, options) : noticeRows(known, options);
  if (options.json) {
    for await (const row of rows) writeJsonLine(row);
    return;
  }
  const columns = columnsOf(options);
  const cells = (row: Row) => columns.map((column) => String(row[column] ?? ""));
  if (options.csv) {
    const lines = inPieces(rows, (row) => csvLine(cells(row)));
    return printPieces([Buffer.from(csvLine(columns))], lines);
  }
  const shown: string[][] = [];
  let isMore = false;
  for await (const row of rows) {
    isMore = shown.length === options.limit;
    if (isMore) break;
    shown.push(cells(row));
  }
  writeTable(columns.map(headingOf), shown);
  if (shown.length === 0) {
    const words = Object.keys(countByWord(await known.items.totals(known.key)));
    writeNote(terminal`No such recipients; the words of the totals: ${words.join(", ")}`);
  }
  if (isMore)
    writeNote(
      terminal`More of ${count(known.recipients)} recipients: --limit shows more, --csv all`,
    );
}

function columnsOf({ addresses }: RecipientsOptions): (keyof ReportRow)[] {
  if (!addresses) return ["line", "evidenceUniqueId", "state", "outcome", "at", "source"];
  return [...reportColumns];
}

const headings: Partial<Record<keyof ReportRow, string>> = {
  lookupKey: "LOOKUP KEY",
  evidenceUniqueId: "NOTICE",
};
const headingOf = (column: keyof ReportRow) => headings[column] ?? column.toUpperCase();

async function* noticeRows(known: KnownNotices, filter: NoticeFilter): AsyncGenerator<Row> {
  for await (const notice of noticesOf(known, filter)) yield noticeRow(notice);
}

/** With a filter, only the recipients whose notice passes it; without one, those too that have no notice. */
async function* addressed(known: KnownNotices, filter: NoticeFilter): AsyncGenerator<Row> {
  const { state, outcome, open } = filter;
  const isFiltered = open === true || state !== undefined || outcome !== undefined;
  const listed = await givenList(known.key.workflowId);
  const notices = await noticesByLine(noticesOf(known, filter));
  const apart = notices.withoutLine.length;
  if (apart > 0) writeNote(withoutLineNote(apart));
  for await (const row of recipientRows(listed, notices))
    if (!isFiltered || row.evidenceUniqueId !== undefined) yield row;
}

async function history(
  known: KnownNotices,
  notice: string,
  { full, json, csv }: RecipientsOptions,
): Promise<void> {
  const evidenceId = /^\d+$/.test(notice) ? await noticeOfLine(known, Number(notice)) : notice;
  const events = evidenceId === undefined ? [] : await known.items.history(known.key, evidenceId);
  if (evidenceId === undefined || events.length === 0) {
    const isKnown = (await known.items.byEvidence(known.key, [evidenceId ?? ""])).size > 0;
    if (!isKnown) throw new CommandError(exitCodes.unknownId, `Unknown notice ${notice}`);
  }
  const said: Said[] = full ? await withAbout(known, events) : events;
  const members = new Set(said.flatMap(({ about = {} }) => Object.keys(about)));
  writeList({ json, csv }, said, {
    ...{ EVENT: "kind", AT: "eventDate", RECEIVED: "receivedAt" },
    ...Object.fromEntries([...members].map((member) => [member, cellOfAbout(member)])),
  });
}

type Said = ItemEvent & { about?: EventAbout };

const cellOfAbout = (member: string) => {
  return ({ about = {} }: Said) => cellOf(about as Record<string, unknown>, member);
};

function withAbout(known: KnownNotices, events: ItemEvent[]) {
  return Promise.all(
    events.map(async (event) => {
      const about = await known.aboutIn(event.callback);
      return { ...event, ...(about && { about }) };
    }),
  );
}

async function noticeOfLine(known: KnownNotices, line: number): Promise<string | undefined> {
  for await (const item of noticesOf(known)) if (item.line === line) return item.evidenceId;
  return undefined;
}
