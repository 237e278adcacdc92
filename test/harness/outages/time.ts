// A small system in which hours pass in a moment: the time-skipping Temporal server, a sandbox whose clock only a test moves
// and which can be away, PostgreSQL, a worker and a relay. Until the receiver starts no callback arrives, so only questions
// tell.
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow } from "../../../src/client.js";
import type { Role, RoleName } from "../../../packages/dev/src/stack/role.js";
import { sandboxPki, stackEnv } from "../../../packages/dev/src/stack/stack-env.js";
import { openState } from "../../../packages/dev/src/stack/stack-state.js";
import { findTestServer } from "../../../packages/dev/src/servers/time-skipping.js";
import { startSandbox, type Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { startRoleOf } from "./roles.js";
import { inboxSettled } from "../stack/inbox.js";
import { testDatabase } from "../stack/postgres.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** About six hours, but a prime number of minutes: what is due six hours after something else is not due when a step ends. */
export const LONG_STEP_MS = 317 * MINUTE_MS;

export type SkippingStack = Awaited<ReturnType<typeof startSkippingStack>>;

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

export async function startSkippingStack(settings: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-outage-"));
  const config = join(directory, "trustflow.toml");
  await writeFile(config, "");
  const state = await openState(directory, () => undefined);
  const { sandbox: port, sandboxTls: tlsPort } = state.ports;
  const pkiDirectory = sandboxPki(directory);
  const stateDirectory = join(directory, "sandbox");
  const provider = () =>
    startSandbox({ port, tlsPort, speed: "manual", pkiDirectory, stateDirectory });
  const [temporal, database, first] = await Promise.all([
    startSkippingServer(),
    testDatabase(),
    provider(),
  ]);
  let sandbox: Sandbox | undefined = first;
  await registerSearchAttributes(temporal.connection, "default");
  const env = {
    ...stackEnv(state, { directory, databaseUrl: database.url, config }),
    TEMPORAL_ADDRESS: temporal.address,
    ...settings,
  };
  const before = { ...process.env };
  Object.assign(process.env, env);
  const roles: Role[] = [];
  const start = async (name: RoleName) => {
    roles.push(await startRoleOf({ stack: { directory, envOf: () => env } }, name, {}));
  };
  const client = await Trustflow.connect();
  await Promise.all([start("worker"), start("relay")]);

  // Time stands while a callback is on its way. The server stops for ever where a command meets what has just happened, as the
  // cancellation of an activity that has just ended does (github.com/temporalio/sdk-java/issues/3088): so what a callback brings
  // about must not happen beside what a poll brings about.
  /** Both clocks; the provider's is stopped while it is unavailable. */
  const pass = async (ms: number, stepMs: number) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await sandbox?.clock.advance(stepMs);
      await inboxSettled(database);
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
    /** No server listens at the provider's address any more. */
    async stopProvider() {
      await sandbox?.close();
      sandbox = undefined;
    },
    async startProvider() {
      sandbox = await provider();
    },
    /** Callbacks arrive from now on. */
    startReceiver: () => start("receiver"),
    pass,
    /** Time passes until it is so: the first value that is not undefined or false. Fails after the limit on both clocks. */
    async passUntil<T>(
      what: string,
      look: () => Promise<T | undefined | false>,
      { stepMs, mostMs }: { stepMs: number; mostMs: number },
    ): Promise<T> {
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
