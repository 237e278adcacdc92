// Sandboxes of one test that share a folder for their state: one is closed, and the next goes on where it stood.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { startSandbox } from "../src/sandbox.js";
import type { Sandbox, SandboxOptions } from "../src/sandbox.js";

/** Registers what makes and removes the folder of each test. What is started ends with the test. */
export function sandboxesOfTest() {
  let directory = "";
  const started: Sandbox[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "sandbox-"));
  });
  afterEach(async () => {
    for (const sandbox of started.splice(0)) await sandbox.close();
    await rm(directory, { recursive: true });
  });
  return {
    folder: () => directory,
    /** In the folder unless told otherwise, with a clock that the test moves. */
    async start(options: SandboxOptions = { stateDirectory: directory }): Promise<Sandbox> {
      const sandbox = await startSandbox({ speed: "manual", ...options });
      started.push(sandbox);
      return sandbox;
    },
  };
}
