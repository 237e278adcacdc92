// A defect that is put back is found by the plan beside its patch, which violates nothing without it (test/simulation/defects/README.md).
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

test("the plan of each defect is red with it, and green without it", async () => {
  const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts"];
  const run = promisify(execFile)(process.execPath, [...script, "--defect", "kept"]);
  const { stdout } = await run.catch((failed: { stdout: string }) => failed);
  const wrong = stdout.split("\n").filter((line) => /NOT FOUND|without it too/.test(line));
  expect(wrong).toEqual([]);
  expect(stdout).not.toBe("");
}, 900_000);
