// The promise of docs/design.md §6 wherever a worker can die, freeze or start again: one intent, one effect, and no process is forgotten.
// One process on real servers is the sample; the simulation kills the workers of all of them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { dirname } from "node:path";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { interruptedRows } from "../../harness/crashes/points.js";
import type { Interruption } from "../../harness/crashes/points.js";
import { startRoleOf } from "../../harness/outages/roles.js";
import { Run, settle } from "../../harness/crashes/run.js";
import type { CrashRow, Field } from "../../harness/crashes/run.js";
import { reset, tasksOf } from "../../harness/stack/reset.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";

/** One of each class: keyed, lookup, once, read. */
const { calls } = sendPostalUnderTest;
const LIMIT_MS = 600_000;
let system: TestStack;
let seeing: Sandbox;
let blind: Sandbox;
let worker: Role | undefined;

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
  await worker?.stop();
  await system?.close();
  for (const sandbox of [seeing, blind]) await sandbox?.close();
}, 60_000);

const fieldOf = (account: "seeing" | "blind"): Field => ({
  trustflow: system.client,
  account,
  ...(account === "blind" ? { sandbox: blind, isBlind: true } : { sandbox: seeing }),
});

const isWrong = ({ ending }: CrashRow) => ending === "double" || ending === "lost";

/** Three calls with five places in the journal; two reads have three places between them, and in each of them every interruption. */
const pointsOf = (interruptions: Interruption[]) => 3 * 5 + 3 * interruptions.length;

function expectOneEffect(rows: CrashRow[], points: number): void {
  expect(rows).toHaveLength(points);
  expect(rows.filter(isWrong)).toEqual([]);
  // What was never sent had no effect; of two owners, the first sends when it is let go.
  const unsent = rows.filter(
    ({ phase, ending }) => /^beforeSending, [^s]/.test(phase) && ending === "parked",
  );
  expect(unsent.filter(({ effects }) => effects > 0)).toEqual([]);
}

test(
  "a worker that dies at each point of each call: an intent has one effect; where the look-up finds nothing a person decides, unless the answer was stored (docs/reading-the-specification.md §0–1, P2 §4.1)",
  async () => {
    const interruptions: Interruption[] = ["killed", "terminated", "reset"];
    const points = pointsOf(interruptions);
    const rows = await interruptedRows(system, [
      { field: fieldOf("seeing"), calls, interruptions },
      { field: fieldOf("blind"), calls: calls.slice(0, 1), interruptions: ["killed"] },
    ]);
    expectOneEffect(rows.slice(0, points), points);
    const blindly = rows.slice(points);
    const due = ({ phase }: CrashRow) => (phase.startsWith("beforeTemporal") ? "once" : "parked");
    expect(blindly.map(({ phase, ending }) => [phase, ending])).toEqual(
      blindly.map((row) => [row.phase, due(row)]),
    );
    expect(blindly).toHaveLength(5);
  },
  LIMIT_MS,
);

test(
  "a worker that is frozen at each point of each call, and goes on beside another one: an intent has one effect",
  async () => {
    const field = fieldOf("seeing");
    const interruptions: Interruption[] = ["splitBrain"];
    const rows = await interruptedRows(system, [{ field, calls, interruptions }]);
    expectOneEffect(rows, pointsOf(interruptions));
  },
  LIMIT_MS,
);

test(
  "reset to its first, its middle or its last workflow task, open or finished, a letter has each effect once",
  async () => {
    const effects = calls.filter(({ effectClass }) => effectClass !== "read");
    const named = (name: string) => effects.map((call) => new Run(fieldOf("seeing"), name, call));
    // A reset lets an open letter come to its end.
    const open = places.map((place) => ({ place, runs: named(`open-${place}`) }));
    const finished = named("finished");
    worker = await startRoleOf(system, "worker", {});
    await Promise.all(
      [...open.flatMap(({ runs }) => runs), ...finished].map(async (run) => {
        await run.start();
        await run.tracked();
        run.ask();
        await run.answered();
      }),
    );
    const rows = await resetEach(open);
    await settle(finished);
    for (const place of places) rows.push(...(await resetEach([{ place, runs: finished }])));
    expect(rows).toHaveLength(places.length * 2 * effects.length);
    expect(rows.filter(isWrong)).toEqual([]);
  },
  LIMIT_MS,
);

/** Where in its history a letter is reset to. */
const places = [0, 0.5, 1];

async function resetEach(letters: { place: number; runs: Run[] }[]): Promise<CrashRow[]> {
  const points = await Promise.all(
    letters.flatMap(({ place, runs }) =>
      runs.map(async (run) => {
        const { runId } = await run.workflow.describe();
        const tasks = await tasksOf(system.client, run.workflowId, runId);
        return { run, runId, eventId: tasks[Math.floor(place * (tasks.length - 1))]! };
      }),
    ),
  );
  await Promise.all(
    points.map(async ({ run, runId, eventId }) => {
      run.renew();
      await reset(system.client, { workflowId: run.workflowId, runId }, eventId);
    }),
  );
  await settle(points.map(({ run }) => run));
  return Promise.all(points.map(({ run, eventId }) => run.row(`reset to ${String(eventId)}`)));
}
