// Tests that need a program beside Node: where it is missing they are skipped, and the closing line of the run says so.
import { spawnSync } from "node:child_process";
import { describe } from "@jest/globals";

type Describe = (title: string, tests: () => void) => void;

export function describeWith(
  program: string,
  title: string,
  tests: () => void,
  { ofJest = describe }: { ofJest?: Describe & { skip: Describe } } = {},
): void {
  const isInstalled = spawnSync(program, ["--version"]).error === undefined;
  // scripts/test.mjs finds the program in the title.
  (isInstalled ? ofJest : ofJest.skip)(`needs ${program}: ${title}`, tests);
}
