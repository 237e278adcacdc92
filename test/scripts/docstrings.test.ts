// The declarations of the client's package explain what the schemas explain, where editors look.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const linesOf = (name: string) =>
  readFileSync(join("packages/client/dist/contracts", name), "utf8").split("\n");

/** The names of the properties of this form that have no docstring. */
function bare(lines: string[], form: RegExp): string[] {
  return lines.flatMap((line, index) => {
    const name = form.exec(line)?.[1];
    const isExplained = (lines[index - 1] ?? "").endsWith("*/");
    return name === undefined || isExplained ? [] : [name];
  });
}

test("every property of an input, a result and a message has a docstring", () => {
  const lines = linesOf("processes.d.ts");
  const names = bare(lines, /^ +(?:readonly )?(\w+): import\("zod"\)/);
  // A contract itself has these.
  expect([...new Set(names)].toSorted()).toEqual(["input", "result", "status"]);
  expect(lines).toContain("            /** Where the letter goes (P2 §2.2). */");
});

const contracts = readdirSync("packages/client/dist/contracts");
const withMessages = contracts
  .map((folder) => join(folder, "messages.d.ts"))
  .filter((name) => existsSync(join("packages/client/dist/contracts", name)));

test.each(withMessages)("every property of the messages in %s has a docstring", (name) => {
  expect(bare(linesOf(name), /^ +(\w+)\??: /)).toEqual([]);
});
