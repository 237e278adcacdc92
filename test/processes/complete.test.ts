// Everything that a process must have beside its code is there; what is missing is named.
import { expect, test } from "vitest";
import type { ProcessContract } from "../../src/contracts/definition/process-contract.js";
import { commandOf, processes, registry } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { files, isThere, namedRows, textOf } from "../docs/repository.js";
import { allPaths } from "../harness/histories/paths.js";
import { brought, processesUnderTest } from "./index.js";

/** The first cells of the rows of a page's tables. */
const rowsOf = (page: string) => namedRows(textOf(page)).map(([name = ""]) => name);

/** What a process lacks, each with the place where it belongs. */
function missing(name: string): string[] {
  const processName = name as ProcessName;
  const command = commandOf(processName);
  const contract: ProcessContract | undefined = registry[processName];
  const { example } = brought[processName] ?? {};
  const checks: [place: string, has: boolean][] = [
    ["src/contracts/processes.ts", contract !== undefined],
    ["src/workflows/index.ts", textOf("src/workflows/index.ts").includes(`export { ${name} }`)],
    [`test/processes/${command}/index.ts`, brought[processName] !== undefined],
    ["its paths", allPaths.some((paths) => paths.process === name)],
    [`test/replay/${name}`, isThere(`test/replay/${name}`)],
    ["its descriptor", processesUnderTest.some((one) => one.process === name)],
    ["its example", example !== undefined && isThere(`examples/${example}`)],
    ["a row in README.md", rowsOf("README.md").includes(name)],
    ["a row in docs/design.md", rowsOf("docs/design.md").includes(name)],
    [
      "its name in docs/any-language.md",
      textOf("docs/any-language.md").includes(`[\`${name}\`](reference/${name}.md#updates)`),
    ],
    ["docs/reference", isThere(`docs/reference/${name}.md`)],
  ];
  return checks.filter(([, has]) => !has).map(([place]) => `${name} lacks ${place}`);
}

test.each(processes)("%s has everything that a process needs", (name) => {
  expect(missing(name)).toEqual([]);
});

test("no registry has a process that the others do not know", () => {
  const known = [...processes].toSorted();
  const exported = [...textOf("src/workflows/index.ts").matchAll(/export \{ (\w+) \}/g)];
  expect(exported.map(([, name = ""]) => name).toSorted()).toEqual(known);
  const folders = files.flatMap((file) => /^test\/processes\/([^/]+)\//.exec(file)?.[1] ?? []);
  expect([...new Set(folders)].toSorted()).toEqual(known.map(commandOf).toSorted());
  expect(processesUnderTest.map(({ process: processName }) => processName)).toEqual([...processes]);
  expect(allPaths.map(({ process: processName }) => processName)).toEqual([...processes]);
});
