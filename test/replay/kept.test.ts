// A recording stays as it is where a workflow changes: otherwise the change would be compared with itself (CONTRIBUTING). Only new
// recordings may come with the change.
import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { GENERATION } from "../../src/contracts/shared/names.js";

/** Some commits up to this one changed both. */
const SINCE = "eaea8921";
const WORK_TREE = "the work tree";
/** Options of git for changes of files that were there before (in git 2.39 `--diff-filter=a` finds none). */
const replacing = ["--no-renames", "--diff-filter=MDT"];

const recordings = ["test/replay/*.json"];
const earlierRecordings = [...recordings, `:!test/replay/*/generation-${GENERATION}/*`];
const workflows = ["src/workflows", ...bundledContracts()];

/** The files of contracts that workflows import as values: they are in the bundle, as its source map says. */
function bundledContracts(): string[] {
  const [, map = ""] = readFileSync("dist/workflow-bundle.js", "utf8").split("base64,");
  const { sources } = JSON.parse(Buffer.from(map, "base64").toString()) as { sources: string[] };
  return sources.flatMap((source) => source.match(/src\/contracts\/.*/) ?? []);
}

/** The lines that git prints. */
function git(...args: string[]): string[] {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, { encoding: "utf8", stdio: [...stdio] })
      .split("\n")
      .filter(Boolean);
  } catch {
    return [];
  }
}

/** The commits after `since`, and the work tree. Where the history is cut off after `since`, all commits that are left. */
function changing(since: string | undefined, paths: string[], options: string[] = []): string[] {
  const [known] = git("rev-parse", "--verify", "--quiet", `${since}^{commit}`);
  const range = known === undefined ? "HEAD" : `${known}..HEAD`;
  const commits = git("log", "--format=%H", range, ...options, "--", ...paths);
  const inTree = git("diff", "--name-only", "HEAD", ...options, "--", ...paths);
  return inTree.length > 0 ? [...commits, WORK_TREE] : commits;
}

/** Where git or the history is missing, these tests are shown as skipped. */
const testOfHistory = git("rev-parse", "HEAD").length > 0 ? test : test.skip;

testOfHistory(
  "no commit changes a workflow and replaces a recording of one, nor does the work tree",
  () => {
    const changed = new Set(changing(SINCE, workflows));
    const newFiles = git("ls-files", "--others", "--exclude-standard", "--", ...workflows);
    if (newFiles.length > 0) changed.add(WORK_TREE);
    const replaced = changing(SINCE, recordings, replacing);
    expect(replaced.filter((commit) => changed.has(commit))).toEqual([]);
  },
);

testOfHistory("a recording of an earlier generation stays as it is", () => {
  const text = `GENERATION = ${GENERATION};`;
  const begin = git("log", "--format=%H", `-S${text}`, "--", "src/contracts/shared/names.ts");
  // A generation that begins in the work tree has no commit yet.
  expect(changing(begin.at(-1) ?? "HEAD", earlierRecordings, replacing)).toEqual([]);
});
