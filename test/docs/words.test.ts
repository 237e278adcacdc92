// Plain words: pages, comments, messages, help texts and test titles use no word that a reader has to guess. Each such word has a
// plain one beside it. docs/glossary.md names the words of the project.
import { expect, test } from "@jest/globals";
import { files, pages, textOf } from "./repository.js";

const plainWords: [riddle: RegExp, plain: string][] = [
  [/\bwhoever\b/i, "anyone who, the caller, the operator"],
  [/\bsomebody\b/i, "someone; better name the actor: another worker, a person, an attacker"],
  [
    /\bnobody (?:knows|can know|can be asked|can say|can tell)\b/i,
    "the outcome is unknown, there is no look-up",
  ],
  [/\bnobody (?:took|asked|asks|made|gave|sent)\b/i, "name the actor"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix, correct"],
  [/\b(?:stands?|stood|standing) still\b/i, "is stopped, is frozen, is stuck"],
  [/\blet(?:s|ting)? go of\b/i, "release, delete"],
  [/\bwhat (?:there is|is there)\b/i, "name the thing"],
  [/\bof which nothing more is told\b/i, "reports no later status"],
  [/\btwo walks\b|\bwalks? (?:it|the path|to its end)\b/i, "path, run"],
  [/\bheard of\b/i, "received, known, acknowledged"],
  [/\bhad (?:its|their) fill\b/i, "reached the limit"],
  [/\bwaits for (?:nobody|a person)\b/i, "needs no decision, needs an operator decision"],
  [/\bof before\b/i, "previous"],
];

/** Comments and quoted texts of code; identifiers are left out, and so is code in backticks. */
function proseOf(code: string): string {
  const token =
    /(?:\/\/[^\n]*\n?[ \t]*)+|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
  return [...code.matchAll(token)]
    .map(([text]) => (text.startsWith("/") ? text.replaceAll(/`[^`\n]*`/g, "`…`") : text))
    .filter((text) => /\w\s+\w/.test(text))
    .map((text) => text.replaceAll(/\s*\n\s*(?:\/\/|\*)?\s*/g, " "))
    .join("\n");
}

/** The prose of a page, without code. */
function proseOfPage(page: string): string {
  return page
    .replaceAll(/^(```+|~~~+)[^]*?^\1/gm, "")
    .replaceAll(/`[^`]*`/g, "`…`")
    .replaceAll(/([^\n])\n(?=[^\n])/g, "$1 ");
}

function riddlesIn(prose: string): string[] {
  return plainWords.flatMap(([riddle, plain]) => {
    const [word] = riddle.exec(prose) ?? [];
    return word === undefined ? [] : [`"${word}" → ${plain}`];
  });
}

test("a riddle is found in a comment, a text and a page, and not in a name or in code", () => {
  expect(riddlesIn(proseOf("// Whoever asks,\n// nobody\n// knows."))).toHaveLength(2);
  expect(riddlesIn(proseOf('throw new Error("the clock stands still");'))).toHaveLength(1);
  expect(riddlesIn(proseOf("const help = `Correct it\n  and mend the rest`;"))).toHaveLength(1);
  expect(riddlesIn(proseOf("/** The member `mend of x` */ const mend = { told: 1 };"))).toEqual([]);
  expect(riddlesIn(proseOfPage("It waits\nfor a person.\n"))).toHaveLength(1);
  expect(riddlesIn(proseOfPage("`mend?`\n\n```sh\nmend it\n```\n"))).toEqual([]);
});

test("no page has one", () => {
  const found = pages.flatMap((path) =>
    riddlesIn(proseOfPage(textOf(path))).map((word) => `${path}: ${word}`),
  );
  expect(found).toEqual([]);
});

test("no comment, message, help text or test title has one", () => {
  // A migration that has run is never edited.
  const left = /^test\/docs\/words\.test\.ts$|^src\/postgres\/migrations\//;
  const code = files.filter((path) => /\.(ts|js|mjs|cjs)$/.test(path) && !left.test(path));
  expect(code.length).toBeGreaterThan(500);
  const found = code.flatMap((path) =>
    riddlesIn(proseOf(textOf(path))).map((word) => `${path}: ${word}`),
  );
  expect(found).toEqual([]);
});
