// The whole enumeration for one process, on one stack: kills, terminations and resets in one namespace, two owners in
// another, each with a provider of its own; and kills once more at an account whose look-up does not find our items.
import { dirname } from "node:path";
import { Trustflow } from "../../../src/client.js";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import {
  startSandbox,
  type Sandbox,
  type SandboxOptions,
} from "../../../packages/sandbox/src/sandbox.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { reportOf, type CrashReport } from "./matrix.js";
import { interruptedRows, phasesOf, type Interruption } from "./points.js";
import { resetRows } from "./resets.js";
import type { Field } from "./run.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import { startTestStack, type TestStack } from "../stack/stack.js";

const ownersNamespace = "two-owners";
const resetsAccount = "resets";
const blindAccount = "blind";
const MAX_HELD = 95;

/** `isBounded`: of a process with very many points only what a kill does. */
export async function enumerateCrashPoints(
  underTest: ProcessUnderTest,
  isBounded = false,
): Promise<CrashReport> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const system = await startTestStack({ roles: ["receiver", "relay"] });
    closers.unshift(() => system.close());
    const provider = async (options: SandboxOptions = {}) => {
      const sandbox = await startSandbox({ speed: "manual", ...options });
      closers.unshift(() => sandbox.close());
      return sandbox;
    };
    const [sandbox, resetsSandbox] = [await provider(), await provider()];
    const blindSandbox = await provider({ lookupKeyMatching: "none" });
    const { namespace } = system.client.temporal.options;
    const env = {
      TEMPORAL_NAMESPACE: namespace,
      ...accountEnv("default", sandbox),
      ...accountEnv(resetsAccount, resetsSandbox),
      ...accountEnv(blindAccount, blindSandbox),
      TRUSTFLOW_ACCOUNTS__BLIND__ONE_SHOT_SIGNATURE__PATHS__RETRIEVE: "none",
    };
    const field: Field = { underTest, trustflow: system.client, namespace, sandbox };
    const resets = { ...field, sandbox: resetsSandbox, account: resetsAccount };
    const blind = { ...field, sandbox: blindSandbox, account: blindAccount, isBlind: true };
    const blindRows = () => interruptedRows(system, blind, env, ["killed"]);

    const owners = async () => {
      const [trustflow, own] = [await clientOf(system, ownersNamespace), await provider()];
      closers.unshift(() => trustflow.close());
      const ownersEnv = { TEMPORAL_NAMESPACE: ownersNamespace, ...accountEnv("default", own) };
      const ownersField = { underTest, trustflow, namespace: ownersNamespace, sandbox: own };
      return interruptedRows(system, ownersField, ownersEnv, ["splitBrain"]);
    };
    const [first = [], ...more] = groupsOf(underTest);
    if (isBounded && more.length > 0) {
      const rows = await interruptedRows(system, field, env, first);
      return reportOf([...rows, ...(await blindRows())]);
    }
    const interrupted = async () => {
      const rows = await interruptedRows(system, field, env, first, () => resetRows(resets));
      for (const group of more) rows.push(...(await interruptedRows(system, field, env, group)));
      rows.push(...(await blindRows()));
      return rows;
    };
    const settled = await Promise.allSettled([interrupted(), owners()]);
    const rows = settled.flatMap((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
    return reportOf(rows);
  } finally {
    for (const close of closers) await close();
  }
}

/** A worker has a hundred slots for activities, so where there are many points the interruptions come one after another. */
function groupsOf(underTest: ProcessUnderTest): Interruption[][] {
  const all: Interruption[] = ["killed", "terminated", "reset"];
  const points = underTest.calls.flatMap((call) => phasesOf(underTest, call)).length * all.length;
  return points < MAX_HELD ? [all] : all.map((one) => [one]);
}

function accountEnv(account: string, { url, tlsUrl, pki }: Sandbox): Record<string, string> {
  return sandboxAccount(account, { url, tlsUrl, pkiDirectory: dirname(pki.caFile) });
}

/** In a namespace of its own, which is made first. */
async function clientOf(system: TestStack, namespace: string): Promise<Trustflow> {
  const { connection } = system.client.temporal;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await registerSearchAttributes(connection, namespace);
  return Trustflow.connect({ namespace });
}
