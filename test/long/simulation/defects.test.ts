// A defect that is put back is found by the seed that its patch names (test/simulation/defects/README.md).
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { sized } from "../../harness/stack/size.js";

const folder = "test/simulation/defects";
const found = readdirSync(folder).filter(
  (file) => file.endsWith(".patch") && /^# seed /m.test(readFileSync(`${folder}/${file}`, "utf8")),
);

/** A change of the plans shifts the seed that finds it, so the seeds behind it are tried too. */
test.each(found.slice(0, sized(found.length, 1)))(
  "%s is found",
  async (file) => {
    const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts"];
    const args = [...script, "--defect", file.slice(0, -".patch".length), "--for", "4m"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toContain("found by seed");
  },
  600_000,
);
