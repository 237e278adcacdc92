// A small system in which hours pass in a moment: the time-skipping Temporal server, a sandbox whose clock only a test moves
// and which can be away, PostgreSQL, a worker and a relay. Until the receiver starts no callback arrives, so only questions
// tell.
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow } from "../../../src/client.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { publicRingOf } from "../../../src/crypto/sealed-box.js";
import { freePorts } from "../../../src/local/processes/free-ports.js";
import { startRole } from "../../../src/local/stack/role.js";
import type { Role, RoleName } from "../../../src/local/stack/role.js";
import { cleanEnv } from "../../../src/local/stack/stack-env.js";
import { findTestServer } from "../../../src/local/servers/time-skipping.js";
import { startSandbox } from "../../../src/sandbox/sandbox.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { testDatabase } from "../stack/postgres.js";
import { eventually } from "./wait.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * About six hours, but a prime number of minutes: what is due six hours after something else is not due when a step ends.
 */
export const LONG_STEP_MS = 317 * MINUTE_MS;

export interface SkippingStack {
  client: Trustflow;
  sandbox(): Sandbox;
  /** No server listens at the provider's address any more. */
  stopProvider(): Promise<void>;
  startProvider(): Promise<void>;
  /** Callbacks arrive from now on. */
  startReceiver(): Promise<void>;
  /** Both clocks; the provider's is stopped while it is unavailable. */
  pass(ms: number, stepMs: number): Promise<void>;
  /** Time passes until it is so: the first value that is not undefined or false. Fails after the limit on both clocks. */
  passUntil<T>(
    what: string,
    look: () => Promise<T | undefined | false>,
    limit: { stepMs: number; mostMs: number },
  ): Promise<T>;
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
      if (starts === MAX_STARTS || !String(error).includes("did not start within")) throw error;
    }
  }
}

const MAX_STARTS = 10;

/** Far above what one step takes on a busy machine, even where an attempt was lost. */
const MAX_STEP_MS = 90_000;

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
  const [receiverPort] = await freePorts(1);
  const env = {
    ...skippingEnv({ directory, database, temporal, sandbox: first }),
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: `http://127.0.0.1:${receiverPort}`,
    TRUSTFLOW_RECEIVER__PORT: String(receiverPort),
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

  // Time stands while a callback is on its way. The server stops for ever where a command meets what has just happened, as the
  // cancellation of an activity that has just ended does (github.com/temporalio/sdk-java/issues/3088): so what a callback brings
  // about must not happen beside what a poll brings about.
  const noneOnItsWay = async () => {
    const { rowCount } = await database.pool.query(
      "select from trustflow.callbacks where state = 'waiting' limit 1",
    );
    return rowCount === 0;
  };
  const pass = async (ms: number, stepMs: number) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await sandbox?.clock.advance(stepMs);
      await eventually("every callback is handed to its process", noneOnItsWay);
      const sleep = () => temporal.sleep(stepMs);
      await temporal.connection.withDeadline(Date.now() + MAX_STEP_MS, sleep).catch((cause) => {
        throw new Error("the clock is stopped: a task may be lost", { cause });
      });
    }
  };
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
    startReceiver: () => start("receiver"),
    pass,
    async passUntil(what, look, { stepMs, mostMs }) {
      for (let passed = 0; ; passed += stepMs) {
        const seen = await look();
        if (seen !== undefined && seen !== false) return seen;
        if (passed >= mostMs) throw new Error(`not within ${passed / HOUR_MS} hours: ${what}`);
        await pass(stepMs, stepMs);
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
