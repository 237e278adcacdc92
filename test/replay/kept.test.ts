// A recording stays as it is where a workflow changes: otherwise the change would be compared with itself (CONTRIBUTING). Only new
// recordings may come with the change. What a release contains is never replaced.
import { expect, test } from "vitest";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Some commits up to this one changed both. */
const SINCE = "eaea8921";
const WORK_TREE = "the work tree";
/** Options of git for changes of files that were there before (in git 2.39 `--diff-filter=a` finds none). */
const replacing = ["--no-renames", "--diff-filter=MDT"];

const recordings = ["test/replay/*.json"];
const workflows = ["src/workflows", ...bundledContracts()];

/** The files of contracts that workflows import as values: they are in the bundle, as its source map says. */
function bundledContracts(): string[] {
  const [, map = ""] = readFileSync("dist/workflow-bundle.js", "utf8").split("base64,");
  const { sources } = JSON.parse(Buffer.from(map, "base64").toString()) as { sources: string[] };
  return sources.flatMap((source) => source.match(/src\/contracts\/.*/) ?? []);
}

const git = (...args: string[]) => gitIn(".", ...args);

/** The lines that git prints. */
function gitIn(cwd: string, ...args: string[]): string[] {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, { cwd, encoding: "utf8", stdio: [...stdio] })
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

/** The recordings of the newest release that a commit or the work tree has changed or removed; the tag of a release is `v<version>`. */
function replacedSinceRelease(folder: string): string[] {
  const [release] = gitIn(folder, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*");
  return release === undefined
    ? []
    : gitIn(folder, "diff", "--name-only", ...replacing, release, "--", ...recordings);
}

testOfHistory("a recording that a release contains stays as it is", () => {
  expect(replacedSinceRelease(".")).toEqual([]);
});

testOfHistory(
  "a changed or a missing recording of a release is found, and a new one is not",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "trustflow-kept-"));
    const write = (path: string, text: string) => {
      const file = join(folder, "test/replay", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    const commit = () => {
      gitIn(folder, "add", "--all");
      gitIn(folder, ...author, "commit", "--quiet", "--message", "recorded");
    };
    try {
      gitIn(folder, "init", "--quiet");
      for (const path of ["a/kept.json", "a/changed.json", "b/removed.json"]) write(path, "before");
      commit();
      write("a/changed.json", "before the release");
      expect(replacedSinceRelease(folder)).toEqual([]);
      commit();
      gitIn(folder, "tag", "v1.0.0");
      write("a/generation-2/kept.json", "after");
      write("a/changed.json", "after");
      commit();
      rmSync(join(folder, "test/replay/b/removed.json"));
      const replaced = ["test/replay/a/changed.json", "test/replay/b/removed.json"];
      expect(replacedSinceRelease(folder)).toEqual(replaced);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
