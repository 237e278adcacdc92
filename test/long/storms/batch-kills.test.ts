// Worker, relay, receiver and PostgreSQL are killed at random moments of a large batch, from its set-up to its report. The provider has
// done, and the process reports, what they would have without a kill. `TEST_SEED` repeats the moments.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sized } from "../../harness/stack/size.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { findingsOf } from "../../processes/send-notice-batch/kills/findings.js";
import { largeBatch } from "../../processes/send-notice-batch/kills/input.js";
import { killPlan } from "../../processes/send-notice-batch/kills/plan.js";
import { BatchRun } from "../../processes/send-notice-batch/kills/run.js";
import { stormEnv } from "../../harness/storms/script.js";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const rows = sized(3_000, 1_000);
const PAGE = 100;
/** Of the reads of notices, a query names so many (P2 §4.2). */
const KEYS_PER_QUERY = 100;
/** As the sweep and the archive read: so many calls at a time, and so many notices in a part. */
const [SIDE_BY_SIDE, NOTICES_PER_PART] = [8, 200];

let system: TestStack;
const deaths: string[] = [];

beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: "manual",
    env: {
      ...stormEnv,
      TRUSTFLOW_WORKER__STICKY_SECONDS: "2",
      TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_NOTICE__BATCH__RECIPIENTS_PAGE: String(PAGE),
      TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_NOTICE__BATCH__READS_PER_SECOND: "400",
    },
    onDeath: ({ name }, { code, signal }) => deaths.push(`${name} ended (${signal ?? code})`),
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function secondsOf(run: BatchRun, intent: string): Promise<number> {
  const began = performance.now();
  await run.run(largeBatch(intent, rows));
  return Math.round((performance.now() - began) / 1_000);
}

test(`what a kill interrupts goes on: ledger, callbacks, report and archive are as without (TEST_SEED=${seed})`, async () => {
  const quiet = new BatchRun(system, "quiet");
  const quietSeconds = await secondsOf(quiet, "quiet");
  const without = await findingsOf(system, "quiet");
  expect(without.problems).toEqual([]);
  const { effects, counts } = without.same;
  const notices = counts.recipients - counts.withoutNotice;
  expect(effects).toEqual({
    "evi-notice.createBatch": 1,
    "evi-notice.addRecipients": 1,
    "evi-notice.addBatchAttachment": 1,
    "evi-notice.startBatch": 1,
    "evi-notice.batchNotice": notices,
  });

  const kills = killPlan(seed, {
    sweep: { total: Math.ceil(notices / KEYS_PER_QUERY), together: SIDE_BY_SIDE },
    archive: { total: notices, together: NOTICES_PER_PART },
    report: { total: Math.ceil(counts.recipients / PAGE), together: 1 },
  });
  const storm = new BatchRun(system, "storm", { kills, callbacks: without.stored });
  const seconds = [quietSeconds, await secondsOf(storm, "storm")];
  const killedAt = storm.killed.map(({ phase, victims }) => `${phase}: ${victims.join(", ")}`);
  console.info({ seed, rows, seconds, killedAt });
  const { same, problems } = await findingsOf(system, "storm");
  expect(problems).toEqual([]);
  expect(same).toEqual(without.same);
  const { counts: callbacks } = await system.sandbox.callbacks();
  expect(callbacks).toMatchObject({ dropped: 0, pending: 0 });
  expect(deaths).toEqual([]);
  const killed = storm.killed.flatMap(({ victims }) => victims);
  for (const victim of ["worker", "relay", "receiver", "postgres"])
    expect(killed.filter((one) => one === victim).length).toBeGreaterThanOrEqual(6);
}, 600_000);
