// What a command prints fits a terminal of 80 columns, and nothing that may be copied is cut.
import { afterEach, expect, test } from "vitest";
import fc from "fast-check";
import { facts, table } from "../../../src/cli/output/output.js";
import { fitted, paint, quoted, terminal } from "../../../src/cli/output/terminal.js";
import { continued, widthOf, wrapped } from "../../../src/cli/output/wrap.js";
import { outsideText } from "../../harness/stack/outside-text.js";

const WIDTH = 80;
const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");

/** As they stand in ids, times and prose. */
const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9/.:-]{1,8}$/),
  fc.stringMatching(/^[A-Za-z0-9/.:-]{1,100}$/, { size: "max" }),
);
const prose = fc.array(word, { maxLength: 40, size: "max" }).map((all) => all.join(" "));

test("a long line is wrapped at its blanks: each word stays whole, and a line is longer only if one word is", () => {
  fc.assert(
    fc.property(prose, fc.nat(30), (text, leading) => {
      const line = " ".repeat(leading) + text;
      const shown = wrapped(line, WIDTH);
      expect(words(shown)).toEqual(words(line));
      for (const one of shown.split("\n"))
        if (one.length > WIDTH) expect(words(one)).toHaveLength(1);
    }),
  );
});

test("a table that is wider than the terminal becomes blocks that have every value whole", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word, prose), { minLength: 1, maxLength: 5 }), (rows) => {
      const shown = fitted(table(["ID", "STATE", "REASON"], rows, WIDTH), WIDTH).source;
      const found = words(shown);
      for (const value of rows.flat().flatMap(words)) expect(found).toContain(value);
      for (const line of shown.split("\n"))
        if (line.length > WIDTH) expect(words(line).length).toBeLessThanOrEqual(2);
    }),
  );
});

test("a table that fits stays as it is, and each row of a wider one begins with its first value", () => {
  const id = "sendPostal/order-19";
  const rows = [[id, "2026-11-26T15:00:00.000Z", undefined, "unknownOutcome", "default"]];
  const headings = ["ID", "STARTED", "OUTCOME", "ATTENTION", "ACCOUNT"];
  expect(table(headings, rows, Infinity).source.split("\n")).toHaveLength(2);
  expect(table(headings, rows, 79).source.split("\n")).toHaveLength(2);
  expect(table(headings, rows, 78).source.split("\n")).toEqual([
    id,
    "  started: 2026-11-26T15:00:00.000Z  attention: unknownOutcome",
    "  account: default",
  ]);
  expect(table(headings, rows, 50).source.split("\n")).toEqual([
    id,
    "  started: 2026-11-26T15:00:00.000Z",
    "  attention: unknownOutcome  account: default",
  ]);
});

test("a fact goes on below its own value, and a sentence two blanks further in", () => {
  const long = "a b ".repeat(40).trim();
  const [first = "", ...others] = wrapped(facts([["waiting for", long]]).source, WIDTH).split("\n");
  expect(first).toMatch(/^waiting for {2}a b /);
  for (const line of others) expect(line).toMatch(/^ {13}[ab]/);
  expect(wrapped(long, WIDTH).split("\n")[1]).toMatch(/^ {2}[ab]/);
});

test("a command at the end of a line stays one line, to be copied", () => {
  const command = `trustflow resolve sendPostal/order-7 --attention submit-1 --decision abandon --by NAME`;
  const line = `sendPostal/order-7  pending  waits for the same decision by a second operator: ${command}`;
  expect(
    wrapped(line, WIDTH)
      .split("\n")
      .map((one) => one.trim()),
  ).toContain(command);
  const inWords = `Correct it, for which the portal of the provider is the place, then run \`trustflow doctor\` again.`;
  expect(wrapped(inWords, WIDTH)).toContain("`trustflow doctor`");
});

test("a line of a callback's body stays one line that begins with |", () => {
  const body = quoted("a long body ".repeat(20));
  expect(fitted(body, WIDTH).source).toBe(body.source);
});

test("text from outside begins no line of its own, however it is wrapped", () => {
  fc.assert(
    fc.property(outsideText, (text) => {
      const [, ...others] = fitted(terminal`id  ${text}`, 40).source.split("\n");
      for (const line of others) expect(line).toMatch(/^ {2,}\S/);
    }),
  );
});

const { isTTY, columns } = process.stdout;
afterEach(() => {
  Object.assign(process.stdout, { isTTY, columns });
});

test("colours take no room", () => {
  Object.assign(process.stdout, { isTTY: true });
  const line = paint("yellow", "ab ".repeat(26).trim());
  expect(line.source.length).toBeGreaterThan(WIDTH);
  expect(wrapped(line.source, WIDTH)).toBe(line.source);
});

test("only a terminal has a width", () => {
  Object.assign(process.stdout, { isTTY: false, columns: 80 });
  expect(widthOf(process.stdout)).toBe(Infinity);
  Object.assign(process.stdout, { isTTY: true, columns: 80 });
  expect(widthOf(process.stdout)).toBe(80);
});

test("a command line of a help goes on after a backslash, and a quoted word stays whole", () => {
  const command = `trustflow resolve order-7 --decision retry --note "not in the portal" --by ana`;
  const lines = continued(command, 60).split("\n");
  expect(lines).toEqual([
    String.raw`trustflow resolve order-7 --decision retry --note \ `.trimEnd(),
    `    "not in the portal" --by ana`,
  ]);
  expect(continued("trustflow list", 60)).toBe("trustflow list");
});
