// Whatever texts from outside hold, a terminal gets the lines that we wrote and no character that controls it; CSV has the rows that
// we wrote and no formula; JSON keeps every character, and none that is not seen.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { csvOf, facts, table } from "../../../src/cli/output/output.js";
import {
  answerText,
  ProgressLines,
  resultText,
  statusText,
} from "../../../src/cli/processes/show.js";
import { paint, quoted } from "../../../src/cli/output/terminal.js";
import { plainText, visibleJson } from "../../../src/contracts/shared/text.js";
import type { ProcessResult, ProcessStatus } from "../../../src/contracts/shared/status.js";
import { hiddenCharacters, outsideText } from "../../harness/stack/outside-text.js";

const at = "2026-01-01T00:00:00.000Z";
const runs = { numRuns: 60 };

const statusWith = (text: string): ProcessStatus => ({
  process: "sendPostal",
  id: text,
  environment: "sandbox",
  account: text,
  phase: "tracking",
  waitingFor: text,
  state: text,
  reportedState: text,
  outcome: text,
  failure: { type: "NotAccepted", message: text, fields: [{ path: text, problem: text }] },
  references: { [text]: text },
  attention: {
    id: text,
    kind: "unknownOutcome",
    step: text,
    since: at,
    reason: text,
    decisions: ["retry", "abandon"],
  },
  timeline: [{ at, source: "callback", event: text, by: text, note: text }],
});

const resultWith = (text: string): ProcessResult => ({
  process: "sendPostal",
  id: text,
  outcome: text,
  providerOutcome: text,
  references: { [text]: text },
  dates: { sent: text },
  documents: [],
  timeline: [{ at, source: "person", event: text, by: text, note: text }],
});

/** Each screen of the command line, with the text wherever one from outside may stand. */
const screens: [string, (text: string) => string][] = [
  ["a status", (text) => statusText(statusWith(text)).source],
  ["a result", (text) => resultText(resultWith(text)).source],
  ["an answer", (text) => answerText({ answer: text }, "sendPostal/order-7").source],
  ["a table", (text) => table(["A", "B"], [[text, text]]).source],
  ["facts", (text) => facts([["a", text]]).source],
  ["an error", (text) => paint("red", text).source],
  [
    "what is followed",
    (text) =>
      new ProgressLines()
        .linesOf(statusWith(text))
        .map(({ source }) => source)
        .join("\n"),
  ],
];

test.each(screens)("%s has our lines and nothing hidden", (_, screen) => {
  const ours = screen("harmless").split("\n").length;
  fc.assert(
    fc.property(outsideText, (text) => {
      const shown = screen(text);
      expect(shown).not.toMatch(hiddenCharacters);
      expect(shown.split("\n")).toHaveLength(ours);
      expect(shown.replaceAll(/\s+/g, " ")).toContain(
        plainText(text).replaceAll(/\s+/g, " ").trim(),
      );
    }),
    runs,
  );
});

test("the lines of a callback's body are marked as text from outside", () => {
  expect(quoted("one\r\nneeds a decision\u001b[2J").source).toBe(
    "  | one\n  | needs a decision[2J",
  );
});

test("CSV that is read again has the same cells and no formula, with commas and with semicolons", () => {
  fc.assert(
    fc.property(fc.array(outsideText, { minLength: 1, maxLength: 4 }), (cells) => {
      const written = csvOf(
        cells.map((_, index) => `H${index}`),
        [cells],
      );
      expect(written).not.toMatch(/[^\P{Cc}\r\n]/u);
      const rows = parse(written);
      expect(rows).toHaveLength(2);
      for (const [index, cell] of (rows[1] ?? []).entries()) {
        expect(cell).not.toMatch(/^\s*[=+\-@]/);
        expect(cell.replaceAll("'", "")).toBe(plainText(cells[index] ?? "").replaceAll("'", ""));
      }
      const line = written.split("\r\n")[1] ?? "";
      for (const part of line.split(";")) expect(part).not.toMatch(/^["\s]*[=+\-@]/);
    }),
    runs,
  );
});

test.each([
  ["=1+1", `"'=1+1"`],
  ["+34 600", `"'+34 600"`],
  ['a, "b"\nc', `"a, ""b"" c"`],
  ["\t@SUM(A1)", `" '@SUM(A1)"`],
  ["Müller-Söhne", `"Müller-Söhne"`],
])("the cell %j", (text, cell) => {
  expect(csvOf(["H"], [[text]])).toBe(`"H"\r\n${cell}\r\n`);
});

test("nothing but output.ts writes to stdout and stderr", async () => {
  const writers: string[] = [];
  for (const file of await readdir("src/cli", { recursive: true })) {
    if (!file.endsWith(".ts")) continue;
    const text = await readFile(join("src/cli", file), "utf8");
    if (/std(out|err)\.write|stream\.write|console\.|pipeline\([^;]*std(out|err)/.test(text))
      writers.push(file);
  }
  expect(writers.toSorted()).toEqual(["output/output.ts"]);
});

test("JSON keeps what it says, and has nothing hidden", () => {
  fc.assert(
    fc.property(outsideText, (text) => {
      const json = visibleJson(JSON.stringify({ text }, undefined, 2));
      expect(json).not.toMatch(hiddenCharacters);
      expect(JSON.parse(json)).toEqual({ text });
    }),
    runs,
  );
});
