// What `npm test -- --changed` runs beside the tests that import a changed file.
import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { testsBeside } from "../../scripts/changed.mjs";
import { root } from "../../scripts/steps.mjs";

const tests = [
  "test/cli/help.test.ts",
  "test/deploy/compose.test.ts",
  "test/docs/paths.test.ts",
  "test/long/e2e/attention.test.ts",
  "test/e2e/processes/send-postal.test.ts",
  "test/e2e/promises.test.ts",
  "test/histories/plain-paths.test.ts",
  "test/long/cli/help.test.ts",
  "test/long/e2e/processes/send-postal-late.test.ts",
  "test/long/e2e/processes/send-postal.test.ts",
  "test/long/e2e/processes/sign-envelope.test.ts",
  "test/replay/replay.test.ts",
];
const everyone = ["test/e2e/promises.test.ts", "test/histories/plain-paths.test.ts"];
const ofPostal = [
  "test/e2e/processes/send-postal.test.ts",
  "test/long/e2e/processes/send-postal-late.test.ts",
  "test/long/e2e/processes/send-postal.test.ts",
];

test.each<[string, string[]]>([
  ["src/journal/journal.ts", everyone],
  ["src/workflows/runtime/step.ts", [...everyone, "test/replay/replay.test.ts"]],
  ["src/workflows/send-postal/view.ts", [...everyone, ...ofPostal, "test/replay/replay.test.ts"]],
  ["src/contracts/send-postal.ts", [...everyone, ...ofPostal]],
  ["test/processes/send-postal/inputs.ts", ofPostal],
  ["src/cli/list.ts", [...everyone, "test/cli/help.test.ts", "test/docs/paths.test.ts"]],
  ["docs/cli.md", ["test/docs/paths.test.ts"]],
  ["docker-compose.yml", ["test/deploy/compose.test.ts"]],
  ["test/journal/journal.test.ts", []],
])("a change of %s", (file, expected) => {
  const found = testsBeside([file], tests, ["send-postal", "sign-envelope"]);
  expect(found).toEqual(expected.toSorted());
});

test("Jest finds the tests that import a source, and their helpers", () => {
  const jest = "node_modules/jest/bin/jest.js";
  const found = execFileSync(
    process.execPath,
    [jest, "--listTests", "--findRelatedTests", "src/contracts/shared/nearest.ts"],
    { cwd: root, encoding: "utf8" },
  );
  expect(found).toContain("test/contracts/nearest.test.ts");
  expect(found).not.toContain("test/crypto/hmac.test.ts");
});
