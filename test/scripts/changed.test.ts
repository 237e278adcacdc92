// What `npm test -- --changed` runs beside the tests that import a changed file.
import { expect, test } from "vitest";
import { execFileSync } from "node:child_process";
import { argumentsFor, testsByRules } from "../../scripts/changed.mjs";
import { root } from "../../scripts/steps.mjs";

const tests = [
  "test/cli/help.test.ts",
  "test/coverage/coverage.test.ts",
  "test/deploy/compose.test.ts",
  "test/docs/paths.test.ts",
  "test/long/e2e/stuck.test.ts",
  "test/e2e/promises.test.ts",
  "test/long/cli/help.test.ts",
  "test/processes/complete.test.ts",
  "test/replay/replay.test.ts",
  "test/simulation/simulate.test.ts",
];
const everyone = ["test/e2e/promises.test.ts", "test/simulation/simulate.test.ts"];

/** Pages and what they say of the code are checked after each change. */
const pages = ["test/coverage/coverage.test.ts", "test/docs/paths.test.ts"];
const replay = "test/replay/replay.test.ts";
const message = "test/processes/complete.test.ts";

test.each<[string, string[]]>([
  ["src/journal/journal.ts", everyone],
  ["src/workflows/runtime/step.ts", [...everyone, replay]],
  ["src/contracts/send-postal/contract.ts", [...everyone, replay]],
  ["test/processes/send-postal/inputs.ts", [message]],
  ["test/replay/sendPostal/delivered.json", [replay]],
  ["examples/letter.json", [message]],
  ["src/cli/list.ts", [...everyone, "test/cli/help.test.ts"]],
  ["docs/cli.md", []],
  ["docker-compose.yml", ["test/deploy/compose.test.ts"]],
  ["test/journal/journal.test.ts", []],
])("a change of %s", (file, expected) => {
  const found = testsByRules([file], tests);
  expect(found).toEqual([...expected, ...pages].toSorted());
});

test.each(["vitest.config.js", "package-lock.json", "test/harness/outages/hold.js"])(
  "a change of %s touches everything but test/long",
  (file) => {
    expect(argumentsFor([file, "docs/cli.md"])).toEqual(["run"]);
  },
);

test("Vitest finds the tests that import a source, and their helpers", () => {
  // Among a few tests: to search all takes ten seconds.
  const [command, run, ...related] = argumentsFor(["src/contracts/shared/nearest.ts"]);
  expect([command, run]).toEqual(["related", "--run"]);
  const listing = `const { createVitest } = await import("vitest/node");
    const vitest = await createVitest("test", { related: ${JSON.stringify(related)}, watch: false });
    const places = ["contracts/nearest", "crypto/hmac", "scripts/bundle-size", "long/e2e/stuck"];
    for (const { moduleId } of await vitest.getRelevantTestSpecifications(places)) console.log(moduleId);
    await vitest.close();`;
  const found = execFileSync(process.execPath, ["--input-type=module", "-e", listing], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TEST_RUN: "test" },
  });
  expect(found).toContain("test/contracts/nearest.test.ts");
  expect(found).toContain("test/scripts/bundle-size.test.ts");
  expect(found).not.toContain("test/crypto/hmac.test.ts");
  expect(found).not.toContain("test/long/");
});
