// The whole file is checked before anything is started; what is checked here needs no server.
import { beforeAll, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";

const folder = await temporaryFolder();
beforeAll(async () => {
  await writeFile(join(folder, "letter.pdf"), letterPdf);
  await writeFile(join(folder, "letter.txt"), "no PDF");
  await writeFile(join(folder, "list.csv"), "address;legalname\nada@example.com;Ada\n");
  await writeFile(join(folder, "bad-list.csv"), "address;legalname\nnobody;Ada\n");
});

const header =
  "id,document.path,recipientName,recipientAddress.streetAddress,recipientAddress.postalCode,recipientAddress.locality,recipientAddress.region,recipientAddress.country,settings.pollIntervalSeconds";
const row = (id: string, more: { document?: string; country?: string; poll?: string } = {}) => {
  const { document = "letter.pdf", country = "ES", poll = "" } = more;
  return `${id},${document},A Very Private Name,Calle Mayor 1,28013,Madrid,Madrid,${country},${poll}`;
};

async function start(
  text: string | Buffer,
  { processName = "sendPostal", options = ["--dry-run"] } = {},
) {
  const csv = join(folder, "letters.csv");
  await writeFile(csv, text);
  const args = ["start", processName, "--csv", csv, ...options];
  // Nothing listens there: a start would end with 4.
  const env = { TEMPORAL_ADDRESS: "127.0.0.1:1" };
  const { code, stdout, stderr } = await commandLine([...args, "--json"], { env });
  const said = stdout === "" ? undefined : JSON.parse(stdout);
  const { fields } = stderr === "" ? { fields: undefined } : JSON.parse(stderr);
  return { code, said, fields, text: await commandLine(args, { env }) };
}

const lines = (...all: string[]) => `${all.join("\n")}\n`;

test("a good file is valid, with its rows, and says what was not checked", async () => {
  const { code, said, text } = await start(lines(header, row("order-1"), row("order-2")));
  expect({ code, said }).toMatchObject({
    code: 0,
    said: { valid: true, process: "sendPostal", rows: 2 },
  });
  expect(said.notChecked.join()).toContain("already used with another input");
  expect(text.stdout).toContain("nothing was stored or started");
});

test.each([["--dry-run"], ["--concurrency", "2"]])(
  "every problem is named with line and column, no value is quoted, and nothing is started: %s",
  async (...options) => {
    const file = lines(
      header,
      row("order-1", { poll: "soon" }),
      row("order-2", { document: "missing.pdf", country: "Spain" }),
      "",
      row("order-1", { document: "letter.txt" }),
      row("order 3", { poll: "1.5" }),
      "order-4,letter.pdf",
      row(""),
    );
    const { code, said, fields, text } = await start(file, { options });
    expect({ code, said }).toEqual({ code: 2, said: undefined });
    expect(fields).toEqual([
      { path: "line 2, settings.pollIntervalSeconds", problem: "must be a number" },
      { path: "line 3, document.path", problem: expect.stringMatching(/missing.pdf: no such/) },
      { path: "line 3, recipientAddress.country", problem: expect.any(String) },
      { path: "line 5, document.path", problem: "is not a PDF" },
      { path: "line 5, id", problem: "is that of line 2 too" },
      { path: "line 6, id", problem: expect.any(String) },
      { path: "line 6, settings.pollIntervalSeconds", problem: "must be a whole number" },
      { path: "line 7", problem: "has 2 fields, and the header has 9" },
      { path: "line 8, id", problem: expect.any(String) },
    ]);
    expect(text.stdout).toMatch(/^LINE +COLUMN +PROBLEM\n2 /);
    expect(text.stderr).toContain("9 problems; nothing was started");
    expect(text.stdout + text.stderr).not.toContain("Private");
  },
);

test("a file with semicolons, a byte-order mark and CRLF, as spreadsheets write it, is read", async () => {
  const text = `\ufeff${header}\r\n"${row("order-1").replaceAll(",", '","')}"\r\n`;
  expect((await start(text.replaceAll(",", ";"))).said).toMatchObject({ rows: 1 });
});

test.each<[string, string | Buffer, RegExp]>([
  ["has no row", `${header}\n`, /^has no row/],
  ["is Latin-1", Buffer.from(`${header}\n${row("order-1")}ñ\n`, "latin1"), /must be UTF-8/],
  ["is a spreadsheet", "PK\u0003\u0004 and more", /is a spreadsheet/],
  ["has a quote that is not closed", `${header}\n"${row("a")}\n`, /must have each quoted field/],
  ["has a stray quote", `${header}\n${row("a")}x"y\n`, /has a quote within a field/],
])("a file that %s is refused", async (_, text, problem) => {
  const { code, fields } = await start(text);
  expect(code).toBe(2);
  expect(fields).toMatchObject([{ problem: expect.stringMatching(problem) }]);
});

test("the lists of batches are checked too", async () => {
  const { fields } = await start(
    lines(
      "id,recipients.path,recipients.mediaType,subject,body",
      "batch-1,list.csv,text/csv,A subject,A body",
      "batch-2,bad-list.csv,text/csv,A subject,A body",
    ),
    { processName: "sendNoticeBatch" },
  );
  expect(fields).toMatchObject([{ path: "line 3, recipients" }]);
});
