// What is checked and stored before a batch's first call, and what the later activities get of it.
import { expect, test } from "vitest";
import type { SendNoticeBatchInput } from "../../../src/contracts/send-notice-batch/contract.js";
import { lineOfOwnKey } from "../../../src/batch/recipients/own-key.js";
import { all, parsed } from "../../batch/recipients/lists.js";
import { batchBench, csv, input, list, settings } from "./support.js";
import type { Bench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(batchBench);

const prepare = (changes: Partial<SendNoticeBatchInput> = {}) => bench.batch().prepare(changes);
const textOf = async (document: Parameters<Bench["documents"]["get"]>[0]) =>
  (await bench.documents.get(document)).toString();

const mixed = `${list}bad address;Secret Name;order-9\n\nana@example.com;Ana again;order-2\n`;

test("the plan has documents in place of contents, and what later calls need", async () => {
  const plan = await prepare({ scheduledDate: "2027-01-05T09:00:00Z", language: "es" });
  expect(plan).toMatchObject({
    environment: "sandbox",
    account: "default",
    settings,
    deadlineSeconds: settings.deadlineSeconds,
    description: expect.stringMatching(/^June/),
    scheduledDate: "2027-01-05T09:00:00Z",
    check: { recipients: 2, invalidRows: 0, problems: [] },
    list: { recipients: 2, hasChallenges: false, unique: "address" },
    attachments: [{ fileName: "terms.txt", includeOnAffidavits: true }, { fileName: "annex.txt" }],
    allowedFailures: 1,
  });
  expect(plan.fields).toEqual({
    subject: "Your contract",
    language: "es",
    pushNotificationFilter: ["Sent", "Delivered", "Read", "Failed", "Closed"],
  });
  expect(await textOf(plan.body)).toBe(input.body);
  expect(await textOf(plan.given)).toBe(list);
});

test("each recipient's own key names its line, beside the caller's", async () => {
  const plan = await prepare({ recipients: csv(mixed), onInvalid: "skip-invalid" });
  const { keyTag = "", document, recipients } = plan.list;
  expect(keyTag).toMatch(/^[0-9a-f]{12}$/);
  const [header, ...rows] = parsed(await textOf(document));
  expect(header).toEqual(["address", "legalname", "lookupkey"]);
  expect(rows.map(([, , key]) => [key, lineOfOwnKey(key, keyTag)])).toEqual([
    [`order-1::${keyTag}-2`, 2],
    [`${keyTag}-3`, 3],
  ]);
  expect(recipients).toBe(2);
  const account = {
    batch: { ownLookupKeys: false, listPartRows: 0, startsBy: "both", recipientsPage: 9 },
  };
  const own = await bench.batch(account as never).prepare();
  expect(own.list).not.toHaveProperty("keyTag");
  expect(parsed(await textOf(own.list.document))).toEqual(parsed(list));
});

test("a list that is not accepted ends the process with its lines, and without its values", async () => {
  const refused = prepare({ recipients: csv(mixed) });
  await expect(refused).rejects.toMatchObject({ type: "InvalidInput", nonRetryable: true });
  const failure = await refused.catch((error: unknown) => error as { details: unknown[] });
  expect(failure).toMatchObject({
    details: [
      {
        fields: [
          { path: "recipients", problem: expect.stringMatching(/^line 4, address: /) },
          { path: "recipients", problem: expect.stringMatching(/^line 6, address: .*line 2/) },
        ],
      },
    ],
  });
  expect(JSON.stringify(failure)).not.toMatch(/Secret|bad address|ana@/);
});

test("an invalid list shows its first problems, and how many more there are", async () => {
  const rows = Array.from({ length: 30 }, (_, row) => `bad ${row};Name\n`).join("");
  const refused = prepare({ recipients: csv(`address;legalname\n${rows}`) });
  const { details } = (await refused.catch((error: unknown) => error)) as {
    details: { fields: { problem: string }[] }[];
  };
  expect(details[0]?.fields).toHaveLength(21);
  expect(details[0]?.fields.at(-1)?.problem).toBe("has 10 more problems");
});

test("rows that are left out are counted, and named in a document", async () => {
  const { check } = await prepare({ recipients: csv(mixed), onInvalid: "skip-invalid" });
  expect(check).toMatchObject({
    recipients: 2,
    invalidRows: 2,
    problems: [
      { kind: "address", column: "address", count: 1 },
      { kind: "duplicate", column: "address", count: 1 },
    ],
  });
  if (!check.problemsCsv) throw new Error("no problems");
  const problems = await textOf(check.problemsCsv);
  expect(problems.split("\r\n")).toHaveLength(4);
  expect(problems).not.toMatch(/Secret|bad address|ana@/);
});

test("the budget is a number, or a share of all rows, whichever is more", async () => {
  const rows = (count: number) =>
    csv(
      `address;legalname\n${Array.from({ length: count }, (_, row) => `r${row}@example.com;Name\n`).join("")}`,
    );
  const allowed = async (recipients: number, given: SendNoticeBatchInput["settings"]) =>
    (await prepare({ recipients: rows(recipients), settings: given })).allowedFailures;
  expect(await allowed(40, { failureBudgetCount: 3, failureBudgetPercent: 10 })).toBe(4);
  expect(await allowed(40, { failureBudgetCount: 7, failureBudgetPercent: 10 })).toBe(7);
  expect(await allowed(19, { failureBudgetCount: 0, failureBudgetPercent: 10 })).toBe(1);
});

test("the filter asks for replies and affidavits only where there are any", async () => {
  const { fields } = await prepare({
    commitmentOptions: "AcceptOrReject",
    settings: { collectAffidavits: true },
  });
  expect(fields.pushNotificationFilter).toEqual([
    ...["Sent", "Delivered", "Read", "Replied", "Failed", "Closed", "AffidavitPublished"],
  ]);
});

test("the deadline follows the notices' time to live", async () => {
  const { deadlineSeconds } = await prepare({ timeToLive: 60 });
  expect(deadlineSeconds).toBe(60 * 60 + settings.deadlineMarginSeconds);
});

test("a repeated attempt stores no second document, and gives the same plan", async () => {
  const { prepare: again, deps } = bench.batch();
  const first = await again({ recipients: csv(mixed), onInvalid: "skip-invalid" });
  const stored = async () => (await all(deps.documents.list())).length;
  const before = await stored();
  expect(await again({ recipients: csv(mixed), onInvalid: "skip-invalid" })).toEqual(first);
  expect(await stored()).toBe(before);
});

test.each([
  ["recipients", { recipients: { ...missing("text/csv") } }],
  ["attachments.0.document", { attachments: [{ fileName: "a", document: missing("text/plain") }] }],
])("a document that is not there is named: %s", async (path, changes) => {
  await expect(prepare(changes)).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path, problem: "is not in the document store" }] }],
  });
});

function missing(mediaType: string) {
  return { uri: `document:${"0a".repeat(16)}`, sha256: "0".repeat(64), size: 5, mediaType };
}
