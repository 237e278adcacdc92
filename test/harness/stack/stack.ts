// The whole system for an end-to-end test file: dev server, PostgreSQL, sandbox, receiver, relay and worker as processes
// of their own, from dist/.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Trustflow } from "../../../src/client.js";
import type { ProcessHandle } from "../../../src/client.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { startStack } from "../../../src/local/stack/stack.js";
import type { Stack, StackOptions } from "../../../src/local/stack/stack.js";
import { sandboxControl } from "../../../src/sandbox/control/client.js";
import type { SandboxControl } from "../../../src/sandbox/control/client.js";

export interface TestStack {
  stack: Stack;
  client: Trustflow;
  sandbox: SandboxControl;
  /** Letters, cancellations and affidavit requests that the sandbox's ledger has for an intent. */
  effects(intent: string): Promise<Record<string, number>>;
  close(): Promise<void>;
}

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
  const providers = [
    "EVI_POST",
    "DISPOSABLE_CERTIFICATE",
    "MESSAGING_GATEWAY",
    "ENVELOPE_SIGNATURE",
    "ONE_SHOT_SIGNATURE",
  ];
  return Object.fromEntries(
    providers.map((provider) => [
      `TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__TIMEOUT_SECONDS`,
      String(seconds),
    ]),
  );
}

export async function startTestStack(options: Partial<StackOptions> = {}): Promise<TestStack> {
  const stack = await startStack({
    directory: await mkdtemp(join(tmpdir(), "trustflow-e2e-")),
    persistent: false,
    sandboxSpeed: 60_000,
    graceMs: 3_000,
    onDeath: () => undefined,
    ...options,
    env: { ...fastEnvironment, ...options.env },
  });
  const before = { ...process.env };
  Object.assign(process.env, stack.env);
  const client = await Trustflow.connect();
  const sandbox = sandboxControl(stack.sandboxUrl);
  return {
    stack,
    client,
    sandbox,
    effects: async (intent) => (await sandbox.ledger(intent)).byIntent[intent] ?? {},
    async close() {
      await client.close();
      await stack.close();
      process.env = before;
    },
  };
}

/** The first status that fits; fails after the limit, saying where the process stands. */
export async function statusWhere(
  handle: ProcessHandle<unknown>,
  fits: (status: ProcessStatus) => boolean,
  limitMs = 30_000,
  everyMs = 150,
): Promise<ProcessStatus> {
  for (const end = Date.now() + limitMs; ; await delay(everyMs)) {
    const status = await handle.status();
    if (fits(status)) return status;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(status)}`);
  }
}
