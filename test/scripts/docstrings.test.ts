// The declarations of the client's package explain what the schemas explain, where editors look.
import { readFileSync } from "node:fs";
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

test.each([
  "shared/messages.d.ts",
  "send-postal/messages.d.ts",
  "send-notice/messages.d.ts",
  "send-notice-batch/messages.d.ts",
  "serve-notice/messages.d.ts",
  "issue-certificate/messages.d.ts",
  "sign-one-shot/messages.d.ts",
  "verify-identity/messages.d.ts",
])("every property of the messages in %s has a docstring", (name) => {
  expect(bare(linesOf(name), /^ +(\w+)\??: /)).toEqual([]);
});
