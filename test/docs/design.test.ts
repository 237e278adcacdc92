// The tables of docs/design.md, docs/reading-the-specification.md and docs/glossary.md against the code.
import { expect, test } from "vitest";
import { processes } from "../../src/contracts/registry.js";
import { providers } from "../../src/providers/registry.js";
import { namedRows, textOf } from "./repository.js";

const classes = ["read", "repeatable", "keyed", "lookup", "once"];

test("docs/reading-the-specification.md lists every operation under its effect class", () => {
  const rows = namedRows(textOf("docs/reading-the-specification.md"));
  const listed = rows
    .filter(([name = ""]) => classes.includes(name))
    .flatMap(([name, , operations = ""]) =>
      operations.split("; ").flatMap((part) => {
        // What stands in brackets is said of an operation.
        const [provider, ...those] = part.replaceAll(/\([^)]*\)/g, "").match(/`[^`]+`/g) ?? [];
        return those.map((operation) => `${provider} ${operation} ${name}`.replaceAll("`", ""));
      }),
    );
  const known = Object.entries(providers).flatMap(([provider, { effects }]) =>
    Object.entries(effects).map(([operation, name]) => `${provider} ${operation} ${name}`),
  );
  expect(listed.toSorted()).toEqual(known.toSorted());
});

test("docs/design.md has a row for every process", () => {
  const [, section = ""] = textOf("docs/design.md").split("\n## 2. Processes\n");
  const rows = namedRows(section.split("\n## ")[0] ?? "");
  expect(rows.map(([name]) => name)).toEqual([...processes]);
});

test("docs/glossary.md gives each word one meaning", () => {
  const words = [...textOf("docs/glossary.md").matchAll(/^\| ([^|]+?) \| ([^|]+?) \|$/gm)]
    .map(([, word = ""]) => word)
    .filter((word) => word !== "word");
  expect(words.length).toBeGreaterThan(60);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});
