// The system for an end-to-end test file: dev server, PostgreSQL, sandbox, receiver, relay and worker as processes of their own, from
// dist/. The codec server is there where a test names it.
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Trustflow, type ProcessHandle } from "../../../src/client.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import {
  startStack,
  type Stack,
  type StackOptions,
} from "../../../packages/dev/src/stack/stack.js";
import { sandboxPki } from "../../../packages/dev/src/stack/stack-env.js";
import { createPool } from "../../../src/postgres/pool.js";
import { providerNames } from "../../../src/providers/registry.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { preparePostgres } from "./postgres.js";

export type TestStack = Awaited<ReturnType<typeof startTestStack>>;

/** Waits of production that a test cannot have: leases, spacing, patience. */
const fastEnvironment = {
  TRUSTFLOW_ATTENTION__RETRY_SECONDS: "1",
  TRUSTFLOW_ATTENTION__PROBE_SECONDS: "1",
  TRUSTFLOW_JOURNAL__LEASE_SECONDS: "8",
  TRUSTFLOW_JOURNAL__LOOK_UP_SPACING_SECONDS: "1",
  ...timeouts(6),
};

/** Of a call to any provider. */
export function timeouts(seconds: number): Record<string, string> {
  const keys = providerNames.map((provider) => provider.replaceAll("-", "_").toUpperCase());
  return Object.fromEntries(
    keys.map((key) => [`TRUSTFLOW_ACCOUNTS__DEFAULT__${key}__TIMEOUT_SECONDS`, String(seconds)]),
  );
}

/** A key ring of the stack, such as `CODEC`. */
export function ringOf({ env }: Pick<Stack, "env">, name: string): KeyRing {
  return KeyRing.parse(env[`TRUSTFLOW_KEYS__${name}`] ?? "");
}

export const historyOf = ({ client }: TestStack, workflowId: string, runId?: string) =>
  client.temporal.workflow.getHandle(workflowId, runId).fetchHistory();

export const historyLength = async (system: TestStack, workflowId: string): Promise<number> =>
  (await historyOf(system, workflowId)).events?.length ?? 0;

export async function startTestStack(options: Partial<StackOptions> = {}) {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "trustflow-e2e-")));
  const pki = process.env["TEST_PKI"];
  if (pki !== undefined) await cp(pki, sandboxPki(directory), { recursive: true, force: false });
  if (options.databaseUrl === undefined) await preparePostgres(join(directory, "postgres"));
  const stack = await startStack({
    persistent: false,
    roles: ["sandbox", "receiver", "relay", "worker"],
    sandboxSpeed: 60_000,
    graceMs: 3_000,
    onDeath: () => undefined,
    ...options,
    directory,
    env: { ...fastEnvironment, ...options.env },
  });
  const before = { ...process.env };
  Object.assign(process.env, stack.env);
  const client = await Trustflow.connect();
  const sandbox = sandboxControl(stack.sandboxUrl);
  const pool = createPool(stack.databaseUrl, { max: 2, connectTimeoutMs: 60_000 });
  return {
    stack,
    client,
    sandbox,
    pool,
    /** What the sandbox's ledger has for an intent. */
    effects: async (intent: string) => (await sandbox.ledger(intent)).byIntent[intent] ?? {},
    async close() {
      await client.close();
      await pool.end();
      await stack.close();
      process.env = before;
    },
  };
}

/** The first status that fits; fails when nothing but attempts of a call has changed for this long, saying where the process stands. */
export async function statusWhere(
  handle: ProcessHandle<unknown>,
  fits: (status: ProcessStatus) => boolean,
  limitMs = 40_000,
): Promise<ProcessStatus> {
  let [shown, end] = ["", 0];
  for (; ; await delay(300)) {
    const status = await handle.status();
    if (fits(status)) return status;
    const now = JSON.stringify({ ...status, retrying: undefined });
    if (now !== shown) [shown, end] = [now, Date.now() + limitMs];
    else if (Date.now() > end) throw new Error(`still ${JSON.stringify(status)}`);
  }
}
