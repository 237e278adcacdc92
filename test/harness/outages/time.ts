// A small system in which hours pass in a moment: the time-skipping Temporal server, a sandbox whose clock only a test moves
// and which can be away, PostgreSQL, a worker and a relay. No callback arrives, so only questions tell.
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow } from "../../../src/client.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { publicRingOf } from "../../../src/crypto/sealed-box.js";
import { startRole } from "../../../src/local/stack/role.js";
import type { Role, RoleName } from "../../../src/local/stack/role.js";
import { cleanEnv } from "../../../src/local/stack/stack-env.js";
import { findTestServer } from "../../../src/local/servers/time-skipping.js";
import { startSandbox } from "../../../src/sandbox/sandbox.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { testDatabase } from "../stack/postgres.js";

export interface SkippingStack {
  client: Trustflow;
  sandbox(): Sandbox;
  /** Nobody listens at the provider's address any more. */
  stopProvider(): Promise<void>;
  startProvider(): Promise<void>;
  /** Both clocks; the provider's stands still while it is away. */
  pass(ms: number, stepMs: number): Promise<void>;
  close(): Promise<void>;
}

/** What roles and clients need beside the callback address. */
export function skippingEnv({
  directory,
  database,
  temporal,
  sandbox,
}: {
  directory: string;
  database: { url: string };
  temporal: { address: string };
  sandbox: { url: string };
}): Record<string, string> {
  const keys = ["CODEC", "CALLBACK", "JOURNAL", "DOCUMENTS"];
  const inbox = generateKeyRing();
  return {
    TRUSTFLOW_KEYS__INBOX: inbox,
    TRUSTFLOW_KEYS__INBOX_PUBLIC: publicRingOf(KeyRing.parse(inbox)),
    ...Object.fromEntries(keys.map((name) => [`TRUSTFLOW_KEYS__${name}`, generateKeyRing()])),
    TRUSTFLOW_CONFIG: join(directory, "trustflow.toml"),
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(directory, "documents"),
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL: sandbox.url,
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__USERNAME: "sandbox",
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__PASSWORD: "sandbox",
    // The time-skipping server stops skipping when a sticky queue is given up early.
    TRUSTFLOW_WORKER__STICKY_SECONDS: "10",
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: "default",
  };
}

/** The SDK gives a server five seconds to start, and a busy machine needs more for its Java: then it is started again. */
export async function startSkippingServer(): Promise<TestWorkflowEnvironment> {
  const path = process.env["TEMPORAL_TEST_SERVER_PATH"] ?? (await findTestServer());
  const server = { executable: { type: "existing-path", path } } as const;
  for (let starts = 1; ; starts += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({ server });
    } catch (error) {
      if (starts === mostStarts || !String(error).includes("did not start within")) throw error;
    }
  }
}

const mostStarts = 10;

export async function startSkippingStack(
  settings: Record<string, string> = {},
): Promise<SkippingStack> {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-outage-"));
  await writeFile(join(directory, "trustflow.toml"), "");
  const provider = (port = 0) =>
    startSandbox({ port, speed: "manual", stateDirectory: join(directory, "sandbox") });
  const [temporal, database, first] = await Promise.all([
    startSkippingServer(),
    testDatabase(),
    provider(),
  ]);
  let sandbox: Sandbox | undefined = first;
  const port = Number(new URL(first.url).port);
  await registerSearchAttributes(temporal.connection, "default");
  const env = {
    ...skippingEnv({ directory, database, temporal, sandbox: first }),
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://127.0.0.1:9",
    ...settings,
  };
  const before = { ...process.env };
  Object.assign(process.env, env);
  const roles: Role[] = [];
  const start = async (name: RoleName) => {
    const role = { name, env: { ...cleanEnv(), ...env }, cwd: process.cwd(), graceMs: 3_000 };
    roles.push(await startRole({ ...role, logDirectory: directory, onDeath: () => undefined }));
  };
  const client = await Trustflow.connect();
  await Promise.all([start("worker"), start("relay")]);
  return {
    client,
    sandbox() {
      if (!sandbox) throw new Error("the provider is away");
      return sandbox;
    },
    async stopProvider() {
      await sandbox?.close();
      sandbox = undefined;
    },
    async startProvider() {
      sandbox = await provider(port);
    },
    async pass(ms, stepMs) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await sandbox?.clock.advance(stepMs);
        await temporal.sleep(stepMs);
      }
    },
    async close() {
      await Promise.all(roles.map((role) => role.stop()));
      await client.close();
      await sandbox?.close();
      await temporal.teardown();
      await database.close();
      await rm(directory, { recursive: true, force: true });
      process.env = before;
    },
  };
}
