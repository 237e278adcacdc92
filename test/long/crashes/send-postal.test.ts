// The promise of docs/design.md §6 where a worker dies or freezes, or where a process is terminated or reset meanwhile: one intent, one
// effect, and no process is forgotten. A sample on real servers: each of these interruptions × each effect class, at one phase of the call.
// The simulation kills the workers of all processes at every point, and does not freeze, terminate or reset.
import { afterAll, beforeAll, expect, test } from "vitest";
import { dirname } from "node:path";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { interruptedRows } from "./points.js";
import type { Interruption } from "./points.js";
import type { CrashRow, Field } from "./run.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";

/** One of each class: keyed, lookup, once. */
const calls = sendPostalUnderTest.calls.filter(({ effectClass }) => effectClass !== "read");
const LIMIT_MS = 600_000;
let system: TestStack;
let seeing: Sandbox;
let blind: Sandbox;

beforeAll(async () => {
  seeing = await startSandbox({ speed: "manual" });
  blind = await startSandbox({ speed: "manual", lookupKeyMatching: "none" });
  const account = (name: string, { url, tlsUrl, pki }: Sandbox) =>
    sandboxAccount(name, { url, tlsUrl, pkiDirectory: dirname(pki.caFile) });
  system = await startTestStack({
    roles: ["receiver", "relay"],
    env: { ...account("seeing", seeing), ...account("blind", blind) },
  });
}, 120_000);
afterAll(async () => {
  await system?.close();
  for (const sandbox of [seeing, blind]) await sandbox?.close();
}, 60_000);

const fieldOf = (account: "seeing" | "blind"): Field => ({
  trustflow: system.client,
  account,
  ...(account === "blind" ? { sandbox: blind, isBlind: true } : { sandbox: seeing }),
});

function expectOneEffect(rows: CrashRow[], points: number): void {
  expect(rows).toHaveLength(points);
  expect(rows.filter(({ ending }) => ending === "double" || ending === "lost")).toEqual([]);
  // What was never sent had no effect; of two owners, the first sends when it is let go.
  const unsent = rows.filter(
    ({ phase, ending }) => /^beforeSending, [^s]/.test(phase) && ending === "parked",
  );
  expect(unsent.filter(({ effects }) => effects > 0)).toEqual([]);
}

test(
  "a worker that dies, also with the process terminated or reset: an intent has one effect; where the look-up finds nothing a person decides, unless the answer was stored (docs/reading-the-specification.md §0–1, P2 §4.1)",
  async () => {
    const interruptions: Interruption[] = ["killed", "terminated", "reset"];
    const points = calls.length * interruptions.length;
    const [submit] = calls;
    const rows = await interruptedRows(system, [
      { field: fieldOf("seeing"), calls, interruptions },
      { field: fieldOf("blind"), calls: [submit!], interruptions: ["killed"], firstPhase: 2 },
      { field: fieldOf("blind"), calls: [submit!], interruptions: ["killed"], firstPhase: 4 },
    ]);
    expectOneEffect(rows.slice(0, points), points);
    expect(rows.slice(points).map(({ phase, ending }) => [phase, ending])).toEqual([
      ["afterCommit, killed", "parked"],
      ["beforeTemporal, killed", "once"],
    ]);
  },
  LIMIT_MS,
);

test(
  "a worker that is frozen, and goes on beside another one: an intent has one effect",
  async () => {
    const sample = { field: fieldOf("seeing"), calls, interruptions: ["splitBrain" as const] };
    // The first owner has not sent yet; the provider has acted; the answer has come.
    const rows = await interruptedRows(system, [{ ...sample, firstPhase: 1 }]);
    expectOneEffect(rows, calls.length);
  },
  LIMIT_MS,
);
