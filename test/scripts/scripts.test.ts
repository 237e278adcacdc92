// The dependency-free script behind `npm run demo`, `npm test` and `npm run verify`.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { closingLine, failedTests, noteError } from "../../scripts/test.mjs";
import { longest } from "../harness/longest-first.js";
import { describeWith } from "../harness/programs.js";
import { temporaryFolder } from "../harness/temporary.js";

async function closingLineOf(results: object, others?: string[]): Promise<string> {
  const file = join(await temporaryFolder(), "results.json");
  await writeFile(file, JSON.stringify(results));
  return closingLine([file], others);
}

const counts = {
  numPassedTests: 7,
  numFailedTests: 0,
  numPendingTests: 0,
};

const broken = { name: "/a.test.ts", status: "failed", assertionResults: [] };
const withFailure = { ...broken, assertionResults: [{ status: "failed", ancestorTitles: [] }] };

test.each<[string, object, string]>([
  ["what Vitest counted", {}, "7 passed, 0 failed"],
  ["what was skipped", { numPendingTests: 2 }, "7 passed, 0 failed, 2 skipped"],
  [
    "a test file that could not even be loaded as failed",
    { numFailedTests: 1, testResults: [broken, withFailure, broken] },
    "7 passed, 3 failed",
  ],
])("the closing line counts %s", async (_, results, line) => {
  expect(await closingLineOf({ ...counts, ...results })).toBe(line);
});

test("the closing line of two runs is their sum, and one that wrote no results counts as failed", async () => {
  const folder = await temporaryFolder();
  const files = ["one.json", "two.json"].map((name) => join(folder, name));
  for (const file of files) await writeFile(file, JSON.stringify({ ...counts, numFailedTests: 1 }));
  expect(await closingLine([...files, join(folder, "none.json")])).toBe("14 passed, 3 failed");
});

test("the last lines name each test that failed, with its error, and each file that failed without one", async () => {
  const file = join(await temporaryFolder(), "results.json");
  const passed = { status: "passed", fullName: "a good one", failureMessages: [] };
  const failed = { status: "failed", fullName: "a bad one", failureMessages: ["Error: no answer"] };
  const testResults = [
    { name: "/a.test.ts", status: "failed", message: "", assertionResults: [passed, failed] },
    { name: "/b.test.ts", status: "failed", message: "no such module", assertionResults: [] },
    { name: "/c.test.ts", status: "passed", message: "", assertionResults: [passed] },
  ];
  await writeFile(file, JSON.stringify({ ...counts, testResults }));
  const none = join(tmpdir(), "no-such-results.json");
  const beside = join(await temporaryFolder(), "beside.json");
  await writeFile(beside, JSON.stringify({ ...counts, erred: true }));
  expect(await failedTests([file, none, beside])).toEqual([
    expect.stringMatching(/a\.test\.ts > a bad one: Error: no answer$/),
    expect.stringMatching(/b\.test\.ts: no such module$/),
    "a run left no results: see above",
    "beside the tests: see above",
  ]);
});

test("a run that ends with an error counts as failed, although each of its tests passed", async () => {
  const file = join(await temporaryFolder(), "results.json");
  await writeFile(file, JSON.stringify(counts));
  await noteError(file);
  expect(await closingLine([file])).toBe("7 passed, 1 failed");
  await writeFile(file, JSON.stringify({ ...counts, numFailedTests: 1 }));
  await noteError(file);
  expect(await closingLine([file])).toBe("7 passed, 1 failed");
});

test("the closing line names what was not run", async () => {
  const skipped = { status: "skipped", ancestorTitles: ["a server", "needs psql: roles"] };
  const testResults = [
    { assertionResults: [skipped, skipped, { ...skipped, ancestorTitles: ["other"] }] },
    {
      assertionResults: [
        { status: "passed", ancestorTitles: ["needs openssl: a server"] },
        { ...skipped, ancestorTitles: ["needs openssl: a server", "needs psql: a client"] },
      ],
    },
  ];
  const results = { ...counts, numPendingTests: 3, testResults, notRun: ["test:lts"] };
  expect(await closingLineOf(results, ["npm audit"])).toBe(
    "7 passed, 0 failed, 3 skipped, not run: npm audit, test:lts, tests with psql",
  );
});

test("tests that need a program are skipped where it is missing, by a name that the closing line knows", () => {
  const given: unknown[] = [];
  const ofRunner = Object.assign((title: string) => void given.push([title]), {
    skip: (title: string) => void given.push([title, "skipped"]),
  });
  describeWith("node", "a server", () => undefined, { ofRunner });
  describeWith("no-such-program", "a server", () => undefined, { ofRunner });
  expect(given).toEqual([["needs node: a server"], ["needs no-such-program: a server", "skipped"]]);
});

test("where test/lts has no Node for the platform, test:lts says that it was not run", async () => {
  const file = join(await temporaryFolder(), "results.json");
  const said = `import { testLts } from "./scripts/test.mjs";
    Object.defineProperty(process, "platform", { value: "plan9" });
    process.exitCode = await testLts([]);`;
  const env = { ...process.env, TEST_RESULTS_FILE: file };
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", said], { env });
  expect(await closingLine([file])).toBe("0 passed, 0 failed, not run: test:lts");
});

test("an unknown command is refused with 2 and the usage on stderr", async () => {
  const { code, stdout, stderr } = await new Promise<Record<string, unknown>>((resolve) => {
    execFile(process.execPath, ["scripts/run.mjs", "nonsense"], (error, out, err) =>
      resolve({ code: error?.code, stdout: out, stderr: err }),
    );
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(
    "build|bench|demo|test|test:lts|test:long|test:compose|test:cluster|verify|nightly",
  );
});

test("the test files that start first are there", () => {
  expect(longest.filter((file) => !existsSync(file))).toEqual([]);
});
