// What a batch leaves behind: at the provider, in the tables and in its documents. Two runs of one input leave the same, up to
// ids and times.
import { parse } from "csv-parse/sync";
import { crc32 } from "node:zlib";
import yauzl from "yauzl";
import type { SendNoticeBatchResult } from "../../../../src/client.js";
import type { DocumentReference } from "../../../../src/contracts/shared/values.js";
import { reportRows, type ReportRow } from "../../../../src/batch/recipients/report.js";
import type { TestStack } from "../../../harness/stack/stack.js";

/** `same`: equal in each run; `problems`: what no run may leave, none when all is well. */
export async function findingsOf(system: TestStack, id: string) {
  const workflowId = `sendNoticeBatch/${id}` as const;
  const result = await system.client.handle(workflowId).result();
  const rows = await rowsOf(system, result);
  const archive = await archiveOf(system, result, rows);
  const tables = await tablesOf(system, workflowId);
  const problems = [
    ...result.timeline.flatMap(({ event }) => (/operator/.test(event) ? [event] : [])),
    ...(await problemsOfLedger(system, id)),
    ...(await problemsOfReport(system, id, result, rows)),
    ...archive.problems,
    ...tables.problems,
  ];
  const { problemsCsv: _, ...list } = result.list;
  return {
    same: {
      outcome: result.outcome,
      list,
      counts: result.counts,
      effects: await system.effects(id),
      callbacks: tables.callbacks,
      reported: tables.reported,
      journal: tables.journal,
      report: rows.map(({ evidenceUniqueId, at, ...row }) => ({
        ...row,
        has: [evidenceUniqueId && "id", at && "at"],
      })),
      archive: archive.filesOf,
    },
    /** How many callbacks are stored. */
    stored: tables.callbacks.reduce((sum, { count }) => sum + count, 0),
    problems,
  };
}

/** Of the list's lines, in their order. */
async function rowsOf({ client }: TestStack, { report }: SendNoticeBatchResult) {
  if (!report) throw new Error("there is no report");
  const rows: ReportRow[] = [];
  for await (const row of reportRows(client.documents.openRead(report.jsonLines))) rows.push(row);
  return rows.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

async function problemsOfLedger({ sandbox }: TestStack, id: string): Promise<string[]> {
  const { duplicates, violations } = await sandbox.ledger(id);
  return [
    ...duplicates.map(({ operation, part, count }) => `${operation} of ${part}: ${count} times`),
    ...violations.map(({ kind, operation }) => `${operation}: ${kind}`),
  ];
}

/** The CSV has the same rows, and each row says of its notice what the provider says. */
async function problemsOfReport(
  { client, sandbox }: TestStack,
  id: string,
  { report }: SendNoticeBatchResult,
  rows: ReportRow[],
): Promise<string[]> {
  const csv = await client.documents.get(report?.csv as DocumentReference);
  const inCsv = parse<Record<string, string>>(csv, { columns: true });
  /** What is empty in the CSV may be absent elsewhere. */
  const texts = (some: object[]) =>
    new Set(
      some.map((row) =>
        Object.entries(row)
          .filter(([, value]) => value !== "")
          .map(([name, value]) => `${name}=${value}`)
          .join(" "),
      ),
    );
  const [json, other] = [texts(rows), texts(inCsv)];
  const differing = [...json, ...other].filter((row) => !json.has(row) || !other.has(row));

  const { items } = await sandbox.items({ intent: id, limit: rows.length + 1 });
  const outcomes = new Map(items.map((item) => [item.id, `${item.state} ${item.outcome}`]));
  const wrong = rows.filter(({ evidenceUniqueId: notice, state, outcome = "" }) => {
    if (notice === undefined) return false;
    return outcomes.get(notice)?.toLowerCase() !== `${state} ${outcome}`.toLowerCase();
  });
  const reported = new Set(rows.flatMap(({ evidenceUniqueId: notice }) => notice ?? []));
  // Beside its notices the provider has the batch.
  const missing = outcomes.size - 1 - reported.size;
  return [
    ...(inCsv.length === rows.length ? [] : [`the CSV has ${inCsv.length} of ${rows.length} rows`]),
    ...differing.map((row) => `in one of the reports alone: ${row}`),
    ...wrong.map((row) => `not as the provider says: ${JSON.stringify(row)}`),
    ...(missing === 0 ? [] : [`the report lacks ${missing} notices`]),
  ];
}

/** `filesOf`: how many files each line has. */
async function archiveOf(
  { client }: TestStack,
  { archive }: SendNoticeBatchResult,
  rows: ReportRow[],
) {
  if (!archive) throw new Error("there is no archive");
  const folders = new Map(rows.map((row) => [`${row.line}-${row.evidenceUniqueId}`, row.line]));
  const zip = await yauzl.fromBufferPromise(await client.documents.get(archive));
  const filesOf: Record<string, number> = {};
  const problems: string[] = [];
  const names = new Set<string>();
  for await (const entry of zip.eachEntry()) {
    const { fileName } = entry;
    const line = folders.get(fileName.split("/")[0] ?? "");
    if (line === undefined) problems.push(`the archive has ${fileName} of no row`);
    if (names.has(fileName)) problems.push(`the archive has ${fileName} twice`);
    names.add(fileName);
    filesOf[String(line)] = (filesOf[String(line)] ?? 0) + 1;
    let sum = 0;
    for await (const piece of await zip.openReadStreamPromise(entry))
      sum = crc32(piece as Buffer, sum);
    if (sum !== entry.crc32) problems.push(`${fileName} is damaged`);
  }
  return { filesOf, problems };
}

interface CountOf {
  count: number;
  [name: string]: string | number | null;
}

async function tablesOf({ pool }: TestStack, workflowId: string) {
  const all = async <Row extends object>(sql: string) =>
    (await pool.query<Row>(sql, [workflowId])).rows;
  const ofBatch = "(select id from trustflow.batches where workflow_id = $1)";
  const callbacks = await all<CountOf>(
    `select state, kind, count(*)::int from trustflow.callbacks where workflow_id = $1 group by 1, 2 order by 1, 2`,
  );
  const reported = await all<CountOf>(
    `select reported, reported_outcome as outcome, read_state as read, part > 0 as "isCollected", count(*)::int
     from trustflow.batch_items where batch = ${ofBatch} group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  );
  const journal = await all<{ step: string; state: string }>(
    "select step, occurrence, state from trustflow.effects where workflow_id = $1 order by 1, 2",
  );
  const parts = await all(`select part from trustflow.batch_parts where batch = ${ofBatch}`);
  const unkept = callbacks.filter(({ state }) => state !== "kept");
  const doubts = journal.filter(({ state }) => state !== "answered");
  const problems = [
    ...unkept.map(({ state, kind, count }) => `${count} callbacks ${kind} are ${state}`),
    ...doubts.map(({ step, state }) => `the effect of ${step} is ${state}`),
    ...parts.map((part) => `left of the archive: ${JSON.stringify(part)}`),
  ];
  return { callbacks, reported, journal, problems };
}
