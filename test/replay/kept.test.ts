// What was recorded stays as it is where a workflow changes: else the change would be compared with itself (CONTRIBUTING).
import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";

/** From here on no commit changes both; before it some did. */
const SINCE = "eaea8921";

function git(...args: string[]): string[] | undefined {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, { encoding: "utf8", stdio: [...stdio] })
      .split("\n")
      .filter(Boolean);
  } catch {
    return undefined;
  }
}

/** Where the history is cut off, the newest commit alone; without git none. */
const range = git("rev-parse", "--verify", "--quiet", `${SINCE}^{commit}`)
  ? `${SINCE}..HEAD`
  : "-1";
const changedBy = (of: string) => git("log", "--format=%H", ...of.split(" ")) ?? [];

test("no commit changes a workflow and replaces a recording of one", () => {
  const replaced = changedBy(`${range} --no-renames --diff-filter=MD -- test/replay/*.json`);
  const changed = new Set(changedBy(`${range} -- src/workflows`));
  expect(replaced.filter((commit) => changed.has(commit))).toEqual([]);
});
