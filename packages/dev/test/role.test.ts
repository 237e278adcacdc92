import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRole } from "../src/stack/role.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

test("a start that fails again shows only what this start has logged", async () => {
  const folder = await temporaryFolder();
  const program = join(folder, "program.js");
  const fail = async (reason: string) => {
    await writeFile(program, `console.error("${reason}"); process.exit(4);`);
    const options = {
      program,
      env: process.env,
      cwd: folder,
      logDirectory: folder,
      graceMs: 1_000,
    };
    return startRole({ name: "relay", ...options, onDeath: () => undefined });
  };
  await expect(fail("the first reason")).rejects.toThrow("the first reason");
  await expect(fail("the second reason")).rejects.toThrow(/relay\.log:\nthe second reason$/);
});
