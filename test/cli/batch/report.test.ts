// `trustflow report`: what the process stored at its end, and before it what is known so far.
import { afterEach, expect, vi, test } from "vitest";
import { parse } from "csv-parse/sync";
import type { BatchItem } from "../../../src/batch/items/items.js";
import { noticesByLine } from "../../../src/cli/batch/rows.js";
import { printReport, printReportSoFar } from "../../../src/cli/batch/report.js";
import type { SendNoticeBatchResult } from "../../../src/contracts/send-notice-batch/contract.js";

afterEach(() => void vi.restoreAllMocks());

async function printed(print: () => Promise<void>) {
  const said = { stdout: "", stderr: "" };
  const kept = (name: "stdout" | "stderr") =>
    vi.spyOn(process[name], "write").mockImplementation((piece) => {
      said[name] += String(piece);
      return true;
    });
  const spies = [kept("stdout"), kept("stderr")];
  await print();
  for (const spy of spies) spy.mockRestore();
  return said;
}

const list = `address;legalname
ada@example.com;Ada
no address;Bo
grace@example.com;Grace
`;
const at = new Date("2026-03-02T09:15:27Z");
const refused = { state: "Closed", outcome: "refused", at, source: "callback" } as const;

/** `lines`: of the notices, as far as they are known. */
async function soFar(lines: (number | undefined)[], options: object) {
  async function* notices(): AsyncGenerator<BatchItem> {
    for (const [index, line] of lines.entries())
      yield { evidenceId: `n-${index}`, ...(line !== undefined && { line }), ...refused };
  }
  const given = { pieces: [Buffer.from(list)], unique: "address" } as const;
  const found = await noticesByLine(notices());
  return printed(() => printReportSoFar(given, found, options));
}

const none = { total: 0, states: {}, outcomes: {} };
const both = { total: 2, states: { Closed: 2 }, outcomes: { refused: 2 } };
const apart = "not yet said which recipients these notices belong to: 2";

test.each([
  [[2, 4], { withoutNotice: 1, states: { Closed: 2 }, outcomes: { refused: 2 } }, none],
  [[undefined, undefined], { withoutNotice: 3, states: {}, outcomes: {} }, both],
])(
  "so far, with notices of the lines %j, --json counts each row of the list once",
  async (lines, counts, noticesWithoutLine) => {
    const { stdout, stderr } = await soFar(lines, { json: true });
    expect(JSON.parse(stdout)).toMatchObject({
      isFinal: false,
      counts: { recipients: 3, ...counts },
      noticesWithoutLine,
    });
    expect(stderr).toBe("");
  },
);

test("so far, the table has notices without a line apart, and only where there are some", async () => {
  const known = (await soFar([2, 4], {})).stdout;
  expect(known).toMatch(/^recipients +3$/m);
  expect(known).toMatch(/^outcome +none yet: the batch is open$/m);
  expect(known).not.toContain("belong to");
  const [rows = "", others = ""] = (await soFar([undefined, undefined], {})).stdout.split(apart);
  expect(rows).toMatch(/^recipients +3$/m);
  expect(rows).not.toContain("refused");
  expect(others).toMatch(/^ +refused +2$/m);
});

test("so far, the CSV has a row for each row of the list, and none without a reason", async () => {
  const expected = [
    ["2", "the recipient refused the notice without opening it"],
    ["3", expect.stringMatching(/^address must be/)],
    ["4", "no notice of the recipient is known yet"],
  ];
  const csv = await soFar([2, undefined, undefined], { csv: true });
  const cells: Record<string, string>[] = parse(csv.stdout, { columns: true });
  expect(cells.map(({ line, reason }) => [line, reason])).toEqual(expected);
  expect(csv.stderr).toContain(apart);
  expect((await soFar([2, 4], { csv: true })).stderr).toBe("");
});

const reference = (uri: string) => {
  return { uri, sha256: "a".repeat(64), size: 1, mediaType: "text/csv" };
};
const counts = {
  recipients: 3,
  withoutNotice: 1,
  states: { Closed: 2 },
  outcomes: { read: 2 },
  sources: { query: 2, list: 1 },
};
const report = { csv: reference("document:csv"), jsonLines: reference("document:lines") };
const result = {
  outcome: "closed",
  counts,
  report,
  list: {
    recipients: 2,
    invalidRows: 1,
    problemsCsv: reference("document:problems"),
    problems: [],
  },
} as unknown as SendNoticeBatchResult;
const documents = {
  openRead: ({ uri }: { uri: string }) => [Buffer.from(`content of ${uri}\n`)],
} as unknown as Parameters<typeof printReport>[2];
const ended = (options: object, of = result) =>
  printed(() => printReport("sendNoticeBatch/campaign-7", of, documents, options));

test("after the end, the stored CSV is printed as it is", async () => {
  expect((await ended({ csv: true })).stdout).toBe("content of document:csv\n");
});

test("after the end, --json and the table have the stored counts, and where the documents are", async () => {
  const json: unknown = JSON.parse((await ended({ json: true })).stdout);
  expect(json).toEqual({ isFinal: true, counts, report, list: result.list });
  const { stdout } = await ended({});
  expect(stdout).toMatch(/^recipients +3$/m);
  expect(stdout).toMatch(/^ +read +2$/m);
  expect(stdout).toMatch(/^outcome +closed$/m);
  expect(stdout).toMatch(/^CSV +document:csv$/m);
  expect(stdout).toMatch(/^problems of the list +document:problems$/m);
});

test("a batch that ended without a notice has no rows, and says so", async () => {
  const { report: _, ...rest } = result;
  const { stdout, stderr } = await ended({ csv: true }, rest);
  expect(stdout).toBe("");
  expect(stderr).toContain("campaign-7 ended before it had a notice");
});
