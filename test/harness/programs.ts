// Tests that need a program beside Node, or a library of Python: where it is missing they are skipped, and the closing line of the run says so.
import { spawnSync } from "node:child_process";
import { describe } from "vitest";

type Describe = (title: string, tests: () => void) => void;

export function describeWith(
  program: string,
  title: string,
  tests: () => void,
  {
    ofRunner = describe,
    library,
  }: { ofRunner?: Describe & { skip: Describe }; library?: string } = {},
): void {
  const isInstalled = library
    ? spawnSync(program, ["-c", `import ${library}`]).status === 0
    : spawnSync(program, ["--version"]).error === undefined;
  // scripts/test.mjs finds the program in the title.
  const needed = library ? `${program} (${library})` : program;
  (isInstalled ? ofRunner : ofRunner.skip)(`needs ${needed}: ${title}`, tests);
}
