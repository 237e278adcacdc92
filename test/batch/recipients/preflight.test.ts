// What the check of a list of recipients takes, refuses and says (P2 §2.6, §2.9): lines and columns, and never a value.
import { expect, test } from "vitest";
import { parse } from "csv-parse/sync";
import { ListRefused, preflight, problemsCsv } from "../../../src/batch/recipients/preflight.js";
import type { PreflightOptions } from "../../../src/batch/recipients/preflight.js";
import { problemFields } from "../../../src/batch/recipients/problems.js";
import { all, check, checked, parsed, skipping, strict } from "./lists.js";

const list = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");
const header = "address;legalname";
const ada = "ada@example.com;Ada Byron";
const everyColumn =
  "address;legalname;lookupkey;displayname;custodychallenge;custodychallengeresponse;deliverychallenge;" +
  "deliverychallengeresponse;deliveryotpchannel;deliveryotpaddress;*city;*Contract No.";
const columns = (number: number) =>
  [header, ...Array.from({ length: number - 2 }, (_, index) => `*${index}`)].join(";");
const byBoth: PreflightOptions = { onInvalid: "strict", unique: "addressAndLookupKey" };

test.each<[string, string, number, PreflightOptions?]>([
  ["one recipient", list(header, ada), 1],
  ["a last line without an end", `${header}\n${ada}`, 1],
  ["lines that end with CRLF", `${header}\r\n${ada}\r\n`, 1],
  ["a mobile number", list(header, "+34600000000;Ada"), 1],
  ["every column", list(everyColumn, "a@b.example;A;;;;;;;;;;"), 1],
  ["columns in another order", list("*city;legalname;address", "Madrid;Ada;ada@example.com"), 1],
  ["a quoted header", list('"address";"legalname"', ada), 1],
  ["quoted semicolons, quotes and lines", list(header, '"a@b.example";"A; ""B""\r\nC\nD"'), 1],
  ["letters of any script", list(header, "a@b.example;Ñandú Гоголь 山田"), 1],
  [
    "an address twice with other lookup keys, where that is allowed",
    list("address;lookupkey;legalname", "a@b.example;1;A", "a@b.example;2;A"),
    2,
    byBoth,
  ],
  [
    "addresses that are the same in capitals alone",
    list(header, "ß@b.example;A", "ss@b.example;A"),
    2,
  ],
  ["an address of 254 characters", list(header, `${"a".repeat(244)}@b.example;A`), 1],
  ["200 columns", list(columns(200), `${ada}${";".repeat(198)}`), 1],
])("%s is taken, and may go as it is", async (_, text, recipients, options = strict) => {
  const report = await check(text, options);
  expect(report).toMatchObject({ isAccepted: true, isAsGiven: true, isComplete: true, recipients });
  expect(report.problems).toEqual([]);
  expect(report.columns).toEqual(parsed(text)[0]);
  const { list: whole } = await checked([Buffer.from(text)], options);
  expect(parsed(whole)).toEqual(parsed(text));
});

const secret = "CANARY";
type Place = { kind: string; line?: number; column?: string };
const place = (kind: string, line: number, column?: string): Place => ({
  ...{ kind, line },
  ...(column !== undefined && { column }),
});
/** The third line of the list. */
const inRow = (kind: string, column?: string) => place(kind, 3, column);
const inHeader = (column?: string) => place("header", 1, column);

const someWords = expect.stringMatching(/^(must .|is required$)/);

/** Rows: the others are taken without them. */
const rows: [string, string, Place][] = [
  ["no address", `;${secret}`, inRow("missing", "address")],
  ["no name", `${secret}@b.example; `, inRow("missing", "legalname")],
  ["no such address", `${secret};A`, inRow("address", "address")],
  ["blanks around an address", ` ${secret}@b.example;A`, inRow("address", "address")],
  ["a number without a country", "600000000;A", inRow("address", "address")],
  ["a long address", `${secret.padEnd(245, "a")}@b.example;A`, inRow("address", "address")],
  ["a field too few", secret, inRow("fields")],
  ["a field too many", `${secret}@b.example;A;B`, inRow("fields")],
  ["a stray quote", `${secret}@b.example;A "B" C`, inRow("strayQuote")],
  ["a stray quote before others", `${secret}@b.example;A"B;"C\nD"`, inRow("strayQuote")],
  ["a control character", `a@b.example;${secret}\u0000`, inRow("characters", "legalname")],
  ["a lost character", `a@b.example;${secret}\ufffd`, inRow("characters", "legalname")],
  ["a CR within a line", `a@b.example;${secret}\rB`, inRow("characters", "legalname")],
  ["an address again", "ADA@example.com;A", inRow("duplicate", "address")],
  ["stray quotes in two fields", `${secret}"A";B "C" D`, inRow("strayQuote")],
  ["a stray quote after lines", `"${secret}\nA\nB";C "D"`, inRow("strayQuote")],
  ["twenty stray quotes", `${secret}@b.example;A${'"'.repeat(20)}`, inRow("strayQuote")],
];

test.each(rows)(
  "a row with %s is named, and refuses the list or is left out",
  async (_, row, at) => {
    const text = list(header, ada, row, "", "bo@example.com;Bo");
    const refused = await check(text);
    expect(refused).toMatchObject({
      isAccepted: false,
      recipients: 0,
      isAsGiven: false,
      isComplete: true,
    });
    expect(refused.problems).toEqual([{ ...at, problem: someWords }]);
    expect(refused.counts).toEqual([{ ...countOf(at), count: 1 }]);
    expect(JSON.stringify(refused)).not.toContain(secret);

    const { list: rest, report } = await checked([Buffer.from(text)]);
    expect(report).toMatchObject({
      rows: 3,
      invalidRows: 1,
      recipients: 2,
      blankLines: 1,
      isAsGiven: false,
    });
    expect(parsed(rest)).toEqual([
      ["address", "legalname"],
      ada.split(";"),
      ["bo@example.com", "Bo"],
    ]);
  },
);

/** Files: refused whatever the caller chose; some with the words of the problem. */
const files: [string, string | Buffer, Place, string?][] = [
  ["nothing", "", { kind: "file" }, "must not be empty"],
  ["blank lines", "\n\r\n", { kind: "file" }],
  ["a header alone", list(header), { kind: "file" }],
  ["no header", list(`${secret}@b.example;A`, ada), inHeader()],
  [
    "no legalname",
    list("address;*city", `a@b.example;${secret}`),
    inHeader(),
    "must have the columns legalname (P2 §2.9)",
  ],
  ["a column twice", list("address;legalname;address", secret), inHeader("#3")],
  ["a column without a name", list(`${header};`, secret), inHeader("#3"), "must have a name"],
  ["a custom field without a name", list(`${header};*`, secret), inHeader("#3")],
  ["a custom field without a visible name", list(`${header};*\u200b `, secret), inHeader("#3")],
  [
    "a custom field twice, in two Unicode forms",
    list(`${header};*\u00e9;*e\u0301`, secret),
    inHeader("#4"),
  ],
  ["a control character in a column's name", list(`${header};*${secret}\u0000`), inHeader("#3")],
  ["a lost character in a column's name", list(`${header};*${secret}\ufffd`), inHeader("#3")],
  ["two lines in a column's name", list(`${header};"*${secret}\nA"`), inHeader("#3")],
  ["an unknown column", list(`${header};${secret}`), inHeader("#3")],
  ["a column in capitals", list(`${header};LookupKey`), inHeader("#3")],
  [
    "commas",
    list("address,legalname", secret),
    inHeader(),
    "must have the columns address and legalname (P2 §2.9); the columns must be separated by semicolons",
  ],
  ["201 columns", list(columns(201)), inHeader()],
  ["a broken quote in the header", list(`address;legal"name`, secret), { kind: "quotes", line: 1 }],
  ["text after a quoted field", list(header, ada, `"${secret}" x;A`, ada), inRow("quotes")],
  ["a quote that is not closed", list(header, ada, `a@b.example;"${secret}`, ada), inRow("quotes")],
  [
    "a row without an end",
    list(header, ada, `a@b.example;"${"x\n".repeat(150_000)}`),
    inRow("length"),
  ],
  [
    "a broken quote after lines",
    list(header, ada, `a@b.example;"${secret}\nA";"B"C`),
    inRow("quotes"),
  ],
  ["21 stray quotes in a row", list(header, ada, `${secret};A${'"'.repeat(21)}`), inRow("quotes")],
  [
    "a row of stray quotes",
    list(header, ada, `a@b.example;A${'"'.repeat(200_000)}`),
    inRow("quotes"),
  ],
  [
    "a row of semicolons and lines",
    list(header, ada, `${";".repeat(300_000)}"\n"`.repeat(4)),
    inRow("length"),
  ],
  ["a line without an end", list(header, ada, "é".repeat(700_000)), inRow("length")],
  ["lines that end with CR", list(header, ada).replaceAll("\n", "\r"), inHeader()],
  ["Latin-1", Buffer.from(list(header, ada, `é@b.example;${secret}`), "latin1"), inRow("encoding")],
  [
    "half a character at the end",
    Buffer.from(list(header, ada) + "é").subarray(0, -1),
    inRow("encoding"),
  ],
  [
    "UTF-16 with a mark",
    Buffer.from(`\ufeff${list(header, ada)}`, "utf16le"),
    { kind: "encoding" },
  ],
  [
    "UTF-16, big end first",
    Buffer.from(`\ufeff${list(header, ada)}`, "utf16le").swap16(),
    { kind: "encoding" },
  ],
  ["UTF-16 of other letters", Buffer.from("\ufeff\u5c71\u7530", "utf16le"), { kind: "encoding" }],
  [
    "UTF-16 of other letters, big end first",
    Buffer.from("\ufeff\u5c71\u7530", "utf16le").swap16(),
    { kind: "encoding" },
  ],
  ...["\u00ffa", "a\u00fe", "\u00fea", "a\u00ff"].map((start): (typeof files)[number] => [
    `half a mark of UTF-16: ${start}`,
    Buffer.from(start, "latin1"),
    place("encoding", 1),
  ]),
  ["UTF-16 without a mark", Buffer.from(list(header, ada), "utf16le"), { kind: "encoding" }],
  ["a spreadsheet", Buffer.from(`PK\u0003\u0004${secret}`), { kind: "encoding" }],
];

test.each(files)("a file with %s is refused, and the place named", async (_, text, at, words) => {
  for (const options of [strict, skipping]) {
    const report = await check(text, options);
    expect(report).toMatchObject({ isAccepted: false, recipients: 0 });
    expect(report.problems).toContainEqual({ ...at, problem: words ?? someWords });
    expect(JSON.stringify(report)).not.toContain(secret);
    await expect(checked([Buffer.from(text)], options)).rejects.toThrow(ListRefused);
  }
});

test("what stands before the place from which a file cannot be read is counted", async () => {
  const report = await check(list(header, ada, "bo;Bo", `a@b.example;"A"B`, ada));
  expect((await check("")).columns).toEqual([]);
  expect(report).toMatchObject({ isComplete: false, rows: 2, invalidRows: 1 });
  expect(report.problems.map(({ line }) => line)).toEqual([3, 4]);
});

test.each([
  ["a line that is not UTF-8", [header, ada, "é;"], 3],
  ["a row that goes on in one", [header, ada, '"bo@example.com";"B', 'é"'], 4],
])("what stands before %s is counted", async (_, lines, line) => {
  const report = await check(Buffer.from(list(...lines), "latin1"));
  expect(report).toMatchObject({ isComplete: false, rows: 1, invalidRows: 0 });
  expect(report.counts).toStrictEqual([{ kind: "encoding", count: 1 }]);
  expect(report.problems[0]).toMatchObject({ line });
});

test("a line without an end is refused before the rest of its file is read", async () => {
  let taken = 0;
  function* pieces() {
    while (taken < 40) {
      taken += 1;
      yield Buffer.alloc(65_536, "a");
    }
  }
  expect((await preflight(pieces(), strict)).counts).toEqual([{ kind: "length", count: 1 }]);
  expect(taken).toBe(16);
});

test("a byte-order mark and blank lines do not go to the provider", async () => {
  const text = `\ufeff\n${header}\r\n\r\n${ada}\n\n`;
  const { list: rest, report } = await checked([Buffer.from(text)], strict);
  expect(rest).toBe(`${header}\r\n${ada}\r\n`);
  expect(report).toMatchObject({
    isAccepted: true,
    recipients: 1,
    isAsGiven: false,
    blankLines: 3,
  });
  expect((await check(`\ufeff${list(header, ada)}`)).isAsGiven).toBe(false);
  expect((await check(list(header, ada, ""))).isAsGiven).toBe(false);
});

test("a list without a valid row is refused", async () => {
  await expect(checked([Buffer.from(list(header, "ada;Ada"))])).rejects.toThrow(ListRefused);
});

test("every problem of a row is named, and the row counts once", async () => {
  const report = await check(list(`${header};*city`, "ada;;A\u0001B"));
  expect(report).toMatchObject({ rows: 1, invalidRows: 1 });
  expect(report.problems.map(({ kind, column }) => [kind, column])).toEqual([
    ["address", "address"],
    ["missing", "legalname"],
    ["characters", "*city"],
  ]);
});

test("a duplicate names the line of the first, which an invalid row is not", async () => {
  const text = list(header, "ada@example.com;", ada, "bo@example.com;Bo", "Ada@Example.com;A");
  const { report, list: rest } = await checked([Buffer.from(text)]);
  expect(report.problems[1]).toEqual({
    kind: "duplicate",
    line: 5,
    column: "address",
    problem: "must not be that of line 3",
  });
  expect(parsed(rest)).toHaveLength(3);
});

test.each<[string, string[], string, PreflightOptions?]>([
  [
    "in another Unicode form",
    [header, "andr\u00e9@b.example;A", "ANDRE\u0301@b.example;B"],
    "must not be that of line 2",
  ],
  [
    "with the same lookup key, in any case",
    ["address;legalname;lookupkey", "a@b.example;A;1", "A@b.example;B;1"],
    "must not be that of line 2, with the same lookupkey",
    byBoth,
  ],
])("the same address %s is a duplicate", async (_, lines, problem, options) => {
  const { problems } = await check(list(...lines), options);
  expect(problems).toEqual([{ kind: "duplicate", line: 3, column: "address", problem }]);
});

test.each<[string, boolean]>([
  ["", false],
  ["sesame", true],
])("answers to challenges are secrets: %j", async (answer, hasSecrets) => {
  const answers = `${header};custodychallengeresponse;deliverychallengeresponse`;
  expect(await check(list(answers, `${ada};;${answer}`))).toMatchObject({ hasSecrets });
  expect(await check(list(answers, `ada;Ada;;${answer}`))).toMatchObject({ hasSecrets: false });
});

test("the report stays small: it names the first problems, and counts all", async () => {
  const bad = Array.from({ length: 5_000 }, (_, index) => (index % 2 === 0 ? `no address;A` : ";"));
  const report = await check(list(header, ...bad), { ...strict, problemsShown: 3 });
  expect(report.problems.map(({ line }) => line)).toEqual([2, 3, 3]);
  expect(report.counts).toEqual([
    { kind: "address", column: "address", count: 2_500 },
    { kind: "missing", column: "address", count: 2_500 },
    { kind: "missing", column: "legalname", count: 2_500 },
  ]);
  const { counts } = await check(list(header, "one", "no address;A", "no address;B"));
  expect(counts.map(({ kind }) => kind)).toEqual(["address", "fields"]);
  expect((await check(list(header, ...bad))).problems).toHaveLength(100);
  expect(await check(list(header, ada, ";"), { ...strict, problemsShown: 0 })).toMatchObject({
    isAccepted: false,
  });
});

test("what the source of the list throws is thrown", async () => {
  async function* broken() {
    yield Buffer.from(list(header, ada));
    throw new Error("the store is away");
  }
  await expect(checked(broken() as never)).rejects.toThrow("the store is away");
});

function countOf({ kind, column }: Place) {
  return { kind, ...(column !== undefined && { column }) };
}

test("every problem of a list is written down, for spreadsheets", async () => {
  const text = list(header, "ada;Ada", ada, `bo@example.com;"A"B`);
  const pieces = await all(problemsCsv([Buffer.from(text)], { ...strict, problemsShown: 1 }));
  const [headings, ...found] = parse(Buffer.concat(pieces));
  expect(headings).toEqual(["line", "column", "kind", "problem"]);
  expect(found).toEqual([
    ["2", "address", "address", expect.stringContaining("E.164")],
    ["4", "", "quotes", expect.stringContaining("quoted field")],
  ]);
  const ofNothing = Buffer.concat(await all(problemsCsv([], strict)));
  expect(parse(ofNothing)).toEqual([headings, ["", "", "file", "must not be empty"]]);
});

test("the problems of a refused list are named as fields, in the words of who shows them", async () => {
  const text = list(header, `${secret};A`, "one", ada, ada);
  const report = await check(text, { ...strict, problemsShown: 2 });
  const problems = (...wording: [Parameters<typeof problemFields>[1]?]) => {
    const fields = problemFields(report, ...wording);
    expect(new Set(fields.map(({ path }) => path))).toEqual(new Set(["recipients"]));
    return fields.map(({ problem }) => problem);
  };
  expect(problems()).toEqual([
    expect.stringMatching(/^line 2, address: must be /),
    expect.stringMatching(/^line 3: must have 2 fields/),
    "has 1 more problems",
  ]);
  expect(problems({ between: ": ", hint: ": see there" })).toEqual([
    expect.stringMatching(/^line 2: address: must be /),
    expect.stringMatching(/^line 3: must have 2 fields/),
    "has 1 more problems: see there",
  ]);
  expect(problemFields(await check("")).map(({ problem }) => problem)).toEqual([
    expect.stringMatching(/^(?!line)\w/),
  ]);
});
