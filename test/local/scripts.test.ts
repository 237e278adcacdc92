// The dependency-free script behind `npm run demo`, `npm test` and `npm run verify`.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { closingLine } from "../../scripts/test.mjs";
import LongestFirst from "../harness/longest-first.cjs";

async function closingLineOf(results: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-results-"));
  try {
    await writeFile(join(folder, "results.json"), JSON.stringify(results));
    return await closingLine(join(folder, "results.json"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const counts = {
  numPassedTests: 7,
  numFailedTests: 0,
  numRuntimeErrorTestSuites: 0,
  numPendingTests: 0,
};

test("the closing line counts what Jest counted", async () => {
  expect(await closingLineOf(counts)).toBe("7 passed, 0 failed");
  expect(await closingLineOf({ ...counts, numPendingTests: 2 })).toBe(
    "7 passed, 0 failed, 2 skipped",
  );
});

test("the closing line of two runs is their sum", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-results-"));
  try {
    const files = ["one.json", "two.json"].map((name) => join(folder, name));
    for (const file of files)
      await writeFile(file, JSON.stringify({ ...counts, numFailedTests: 1 }));
    expect(await closingLine(...files, join(folder, "none.json"))).toBe("14 passed, 3 failed");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a test file that could not even be loaded counts as failed", async () => {
  expect(await closingLineOf({ ...counts, numRuntimeErrorTestSuites: 1 })).toBe(
    "7 passed, 1 failed",
  );
});

test("a run that wrote no results counts as failed", async () => {
  expect(await closingLine(join(tmpdir(), "no-such-results.json"))).toBe("0 passed, 1 failed");
});

test("an unknown command is refused with 2 and the usage on stderr", async () => {
  const { code, stdout, stderr } = await new Promise<Record<string, unknown>>((resolve) => {
    execFile(process.execPath, ["scripts/run.mjs", "nonsense"], (error, out, err) =>
      resolve({ code: error?.code, stdout: out, stderr: err }),
    );
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("build|bench|demo|test|test:lts|test:long|verify");
});

test("the test files that start first are there", () => {
  expect(LongestFirst.longest.filter((file) => !existsSync(file))).toEqual([]);
});
