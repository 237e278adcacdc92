// A defect that is put back is found by the seed that its patch names (test/simulation/defects/README.md).
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const folder = "test/simulation/defects";
const found = readdirSync(folder).filter(
  (file) => file.endsWith(".patch") && /^# seed /m.test(readFileSync(`${folder}/${file}`, "utf8")),
);

test.each(found)(
  "%s is found",
  async (file) => {
    const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts"];
    const args = [...script, "--defect", file.slice(0, -".patch".length), "--for", "1s"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toContain("found by seed");
  },
  600_000,
);
