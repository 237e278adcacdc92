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

test.each<Interruption[][]>([[["killed", "terminated", "reset"]], [["splitBrain"]]])(
  "a worker at each point of each call, %j: an intent has one effect (docs/reading-the-specification.md §0–1, P2 §4.1)",
  async (interruptions) => {
    const rows = await interruptedRows(system, fieldOf("seeing"), calls, interruptions);
    // Three calls with an effect have five phases, two reads have three.
    expect(rows).toHaveLength(interruptions.length * (3 * 5 + 3));
    expect(rows.filter(isWrong)).toEqual([]);
    // What was never sent had no effect; of two owners, the first sends when it is let go.
    const unsent = rows.filter(
      ({ phase, ending }) => /^beforeSending, [^s]/.test(phase) && ending === "parked",
    );
    expect(unsent.filter(({ effects }) => effects > 0)).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "at an account whose look-up finds nothing a person decides, unless the answer was stored",
  async () => {
    const [submit] = calls;
    const rows = await interruptedRows(system, fieldOf("blind"), [submit!], ["killed"]);
    const due = ({ phase }: CrashRow) => (phase.startsWith("beforeTemporal") ? "once" : "parked");
    expect(rows.map(({ phase, ending }) => [phase, ending])).toEqual(
      rows.map((row) => [row.phase, due(row)]),
    );
    expect(rows).toHaveLength(5);
  },
  LIMIT_MS,
);

/** So many letters share the reset points of one history between them. */
const SHARING = 8;

test(
  "reset to any of its workflow tasks, open or finished, a letter has each effect once",
  async () => {
    const effects = calls.filter(({ effectClass }) => effectClass !== "read");
    const named = (name: string) =>
      effects.flatMap((call) =>
        Array.from(
          { length: SHARING },
          (_, index) => new Run(fieldOf("seeing"), `${name}-${index}`, call),
        ),
      );
    const [open, finished] = [named("open"), named("finished")];
    worker = await startRoleOf(system, "worker", {});
    await Promise.all(
      [...open, ...finished].map(async (run) => {
        await run.start();
        await run.tracked();
        run.ask();
        await run.answered();
      }),
    );
    const rows = await resetEach(open);
    await settle(finished);
    rows.push(...(await resetEach(finished)));
    expect(rows.length).toBeGreaterThan(2 * effects.length);
    expect(rows.filter(isWrong)).toEqual([]);
  },
  LIMIT_MS,
);

/** Letter n is reset to the tasks n, n + 8, … of its own first history. */
async function resetEach(runs: Run[]): Promise<CrashRow[]> {
  const rows: CrashRow[] = [];
  const lists = await Promise.all(
    runs.map(async (run, index) => {
      const { runId } = await run.workflow.describe();
      const tasks = await tasksOf(system.client, run.workflowId, runId);
      return tasks
        .filter((_, at) => at % SHARING === index % SHARING)
        .map((eventId) => ({ run, runId, eventId }));
    }),
  );
  for (let round = 0; lists.some((list) => list.length > round); round += 1) {
    const points = lists.flatMap((list) => list[round] ?? []);
    await Promise.all(
      points.map(async ({ run, runId, eventId }) => {
        run.renew();
        await reset(system.client, { workflowId: run.workflowId, runId }, eventId);
      }),
    );
    await settle(points.map(({ run }) => run));
    rows.push(
      ...(await Promise.all(
        points.map(({ run, eventId }) => run.row(`reset to ${String(eventId)}`)),
      )),
    );
  }
  return rows;
}
