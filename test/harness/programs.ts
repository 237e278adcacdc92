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
    isInstalled = spawnSync(program, ["--version"]).error === undefined,
  }: { ofRunner?: Describe & { skip: Describe }; isInstalled?: boolean } = {},
): void {
  // scripts/test.mjs finds the program in the title.
  (isInstalled ? ofRunner : ofRunner.skip)(`needs ${program}: ${title}`, tests);
}
