// `trustflow list`: the processes that meet a filter, in an order, page by page.
import { type Command, Option } from "commander";
import type { ListedProcess, ListOrder } from "../../client.js";
import { sortKeys } from "../../client/list-request.js";
import { addCommand, csvOption, wholeNumber } from "../command.js";
import { withTrustflow } from "../context.js";
import { usageError } from "../output/exit.js";
import { cellOf, writeJson, writeList, writeNote, writeNoteJson } from "../output/output.js";
import type { Columns, ListFormat } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { addFilters, filterNames } from "./filters.js";
import type { FilterOptions } from "./filters.js";
import { retryText } from "../processes/show.js";

interface ListOptions extends FilterOptions, ListOrder, ListFormat {
  attention?: boolean;
  stuck?: boolean;
  cursor?: string;
  limit: number;
}

export function addList(program: Command): void {
  const command = addCommand(program, "list", {
    summary: "list processes, open ones first",
    details: `The list comes from Temporal's visibility store and may lag by a second; it needs no worker.
Without a filter for attentions and without --stuck, RETRYING shows of each open process the call that failed and is made again:
host, cause, and the next attempt.
--stuck lists processes whose workflow tasks keep failing. "trustflow cleanup" resets each of them once; REPAIRED shows when.
An operator must look at a process that is still stuck after that.
Temporal answers all filters but --reason, and sorts nothing: with --reason, --sort or --stuck, the command reads all processes
that meet the other filters, for each page.
If there are more processes than --limit, a note on stderr has the cursor of the next page; with --json it is {"next":"CURSOR"}.`,
    example: `trustflow list --attention
trustflow list --phase tracking --started-before 30d --sort started
trustflow list --reason "503" --account default
trustflow list --process sendPostal --deadline-before 3d --sort deadline --limit 20`,
  })
    .option("--attention", "only processes that need an operator decision")
    .option("--stuck", "only processes whose workflow tasks keep failing");
  addFilters(command)
    .addOption(
      new Option("--sort <column>", "sort by this column, processes without a value last").choices(
        sortKeys,
      ),
    )
    .option("--reverse", "sort in descending order")
    .option("--limit <n>", "maximum number of rows", wholeNumber(1), 1_000)
    .addOption(
      new Option(
        "--cursor <cursor>",
        "the next page of a list, with the same filters and order",
      ).conflicts(["attention", "stuck", "sort", "reverse", ...filterNames]),
    )
    .addOption(csvOption())
    .action(list);
}

async function list({ json, csv, limit, cursor, ...filter }: ListOptions): Promise<void> {
  const { attention, stuck, kind, reason, sort, reverse } = filter;
  if (reverse && sort === undefined) throw usageError("--reverse: needs --sort");
  // With such a filter the list already says what is wrong.
  const isOverview = ![attention, stuck, kind, reason, cursor].some(Boolean);
  const isByDeadline = sort === "deadline" || filter.deadlineBefore || filter.deadlineAfter;
  const except = [...(isByDeadline ? [] : ["DEADLINE"]), ...(isOverview ? ["REASON"] : [])];
  const request = cursor === undefined ? { ...filter, retrying: isOverview } : { cursor };
  const {
    processes: found,
    next,
    read,
  } = await withTrustflow((trustflow) => trustflow.listPage({ limit, ...request }));
  if (json) {
    writeJson(found);
    if (next !== undefined) writeNoteJson({ next });
    return;
  }
  const isOfStuck = stuck ?? found.some((one) => one.stuck);
  writeList({ csv }, found, isOfStuck ? stuckColumns : columnsFor(found, csv, except));
  if (reason !== undefined)
    writeNote(
      terminal`Temporal knows no reasons: ${read ?? 0} processes that meet the other filters were read.`,
    );
  if (next !== undefined)
    writeNote(terminal`There are more: trustflow list --limit ${limit} --cursor ${next}`);
}

const columns: Columns<ListedProcess> = {
  ID: "workflowId",
  STARTED: "startedAt",
  STATE: ({ state }) => state.toLowerCase(),
  PHASE: "phase",
  OUTCOME: "outcome",
  ATTENTION: "attention",
  ACCOUNT: "account",
};

/** Each appears if a process has something in it, and `except` does not name it. */
const moreColumns: Columns<ListedProcess> = {
  DEADLINE: "deadline",
  REASON: ({ reasons }) => reasons?.join(" | "),
  PROPOSED: proposedIn,
  RETRYING: ({ retrying }) => retrying?.map(retryText).join(" | "),
};

const stuckColumns: Columns<ListedProcess> = {
  ID: "workflowId",
  STARTED: "startedAt",
  "STUCK SINCE": ({ stuck }) => stuck?.since,
  FAILURES: ({ stuck }) => String(stuck?.failures ?? ""),
  CAUSE: ({ stuck }) => stuck?.cause,
  REPAIRED: ({ stuck }) =>
    stuck?.repairedAt === undefined ? "not yet" : `once, without success, at ${stuck.repairedAt}`,
};

/** CSV always has all columns. */
function columnsFor(found: ListedProcess[], csv = false, except: string[] = []) {
  const isShown = ([heading, cell]: [string, Columns<ListedProcess>[string]]) =>
    csv || (!except.includes(heading) && found.some((one) => cellOf(one, cell) !== undefined));
  return { ...columns, ...Object.fromEntries(Object.entries(moreColumns).filter(isShown)) };
}

/** The first proposal; a process may have several attentions. */
function proposedIn({ proposals: [first, ...more] = [] }: ListedProcess): string | undefined {
  if (!first) return undefined;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${first.decision} by ${first.principal}${others}`;
}
