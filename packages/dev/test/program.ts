// A user's program with a system of its own, in a process of its own, with a folder for temporary files that nobody else has.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished } from "vitest";
import { processesOf } from "../../../test/harness/left-over.js";

/** Of the program that was started last. */
export let folder: string;

/** `lines` have the client as `trustflow`. The program ends with the test. */
export function program(options: object, lines: string) {
  folder = mkdtempSync(join(tmpdir(), "trustflow-embedded-test-"));
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { Trustflow } from "${pathToFileURL(join("packages", "dev", "dist", "index.js")).href}";
      const trustflow = await Trustflow.embedded(${JSON.stringify(options)});
      ${lines}`,
    ],
    { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, TMPDIR: folder } },
  );
  const own = folder;
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(own, { recursive: true, force: true });
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

export async function nothingIsLeft(): Promise<void> {
  const left = async () => [...(await processesOf(folder)), ...(await readdir(folder))];
  for (let tries = 0; tries < 400 && (await left()).length > 0; tries++) await delay(50);
  expect(await left()).toEqual([]);
}
