// Tests that need a program beside Node, or a library of Python: where it is missing they are skipped, and the closing line of the run says so.
import { spawnSync } from "node:child_process";
import { describe } from "@jest/globals";

type Describe = (title: string, tests: () => void) => void;

export function describeWith(
  program: string,
  title: string,
  tests: () => void,
  { ofJest = describe, library }: { ofJest?: Describe & { skip: Describe }; library?: string } = {},
): void {
  const isInstalled = library
    ? spawnSync(program, ["-c", `import ${library}`]).status === 0
    : spawnSync(program, ["--version"]).error === undefined;
  // scripts/test.mjs finds the program in the title.
  const needed = library ? `${program} (${library})` : program;
  (isInstalled ? ofJest : ofJest.skip)(`needs ${needed}: ${title}`, tests);
}
