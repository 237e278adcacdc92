// Whether the tests that cover the items ran, and passed: read from what Vitest wrote.
import { relative } from "node:path";
import { readFileSync } from "node:fs";
import { sidesOf, titled } from "./items.js";
import type { Item, Passed } from "./items.js";

interface Results {
  testResults: {
    name: string;
    assertionResults: { title: string; status: string }[];
  }[];
}

export function passedIn(files: readonly string[], root: string): Passed {
  return files.flatMap((file) => {
    const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Results;
    return testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === "passed")
        .map(({ title }) => ({ file: relative(root, name), title })),
    );
  });
}

/** The tests of items that did not pass, each once; `sideOf` tells the side of a fixture. */
export function notPassed(
  items: readonly Item[],
  passed: Passed,
  sideOf: (fixture: string) => string | undefined,
): string[] {
  const tests = [...new Set(items.flatMap((item) => item.tests))];
  const conformance = passed.filter(({ file }) =>
    /^(packages\/sandbox\/)?test\/providers\//.test(file),
  );
  return tests.filter((test) => {
    const named = titled(test);
    if (named) {
      const pattern = patternOf(named.title);
      return !passed.some(({ file, title }) => file === named.file && pattern.test(title));
    }
    const name = test.split("/").at(-1) ?? "";
    const ran = conformance.filter(({ title }) => title.includes(name));
    const { client, sandbox } = sidesOf(test, sideOf(test));
    const isOfSandbox = (file: string) => file.startsWith("packages/sandbox/test/");
    return (
      (client && !ran.some(({ file }) => !isOfSandbox(file))) ||
      (sandbox && !ran.some(({ file }) => isOfSandbox(file)))
    );
  });
}

/** `%s` and `$name` of a table stand for anything. */
function patternOf(title: string): RegExp {
  const parts = title.split(/%[a-zA-Z#]|\$\{?[\w.]+\}?/);
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join(".*")}$`, "s");
}
