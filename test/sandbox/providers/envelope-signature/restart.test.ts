import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  startSandbox,
  type Sandbox,
  type SandboxOptions,
} from "../../../../src/sandbox/sandbox.js";
import { sender } from "./sender.js";

let stateDirectory: string;
const sandboxes: Sandbox[] = [];
beforeEach(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "sandbox-"));
});
afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.close();
  await rm(stateDirectory, { recursive: true });
});

async function start(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox({ speed: "manual", ...options });
  sandboxes.push(sandbox);
  return sandbox;
}

test("a restart keeps requests, tokens, files and what is used", async () => {
  const first = await start({ stateDirectory });
  const before = sender(first);
  const used = await before.all({ reference: "kept" }, ["kept--contract.pdf"]);
  await before.send(used.fileIds, used.esaw_token);
  const open = await before.all({}, ["contract.pdf"]);
  await first.close();

  const second = await start({ stateDirectory });
  const after = sender(second);
  expect((await after.send(used.fileIds, used.esaw_token)).body.Message).toMatch(/used/);
  expect((await after.send(open.fileIds, open.esaw_token)).status).toBe(200);
  expect(second.ledger("kept").effects).toHaveLength(3);
});

test("the same seed gives the same ids and tokens, another seed others", async () => {
  const [one, twin, other] = await Promise.all(
    ["seed", "seed", "other"].map(async (seed) =>
      sender(await start({ seed })).all({}, ["contract.pdf"]),
    ),
  );
  expect(twin).toEqual(one);
  expect(other?.esaw_token).not.toBe(one?.esaw_token);
});
