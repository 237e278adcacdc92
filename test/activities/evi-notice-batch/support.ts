// What the tests of a batch's activities share: the simulated provider, a journal, a document store, and attempts that are repeated as
// Temporal repeats them.
import { setTimeout as delay } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import type { BatchDependencies } from "../../../src/activities/evi-notice-batch/context.js";
import { createBatchActivities } from "../../../src/activities/evi-notice-batch/index.js";
import type { BatchActivities } from "../../../src/activities/evi-notice-batch/index.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import type { SendNoticeBatchInput } from "../../../src/contracts/send-notice-batch/contract.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { openStore } from "../../harness/documents/open-store.js";
import { Journal } from "../../../src/journal/journal.js";
import { LookUpProofs } from "../../../src/journal/look-up-proofs.js";
import type { EviNoticeAccount } from "../../../src/providers/evi-notice/client.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { SandboxOptions } from "../../../packages/sandbox/src/sandbox.js";
import { inputDigest, sameInput } from "../../../src/crypto/json-digest.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { accountAt } from "../../providers/evi-notice/account.js";
import { MINUTE } from "../../../packages/sandbox/test/caller.js";
import { inAttempt } from "../attempts.js";

/** A call that takes longer on a busy machine is only looked for, as after any lost answer. */
const LEASE_MS = 1_000;
const SPACING_MS = 20;
const MAX_ATTEMPTS = 60;
const MAX_DELAY_MS = 100;

export const settings: BatchDependencies["defaults"]["sendNoticeBatch"] = {
  affidavitWindowSeconds: 1,
  deadlineSeconds: 1_000,
  deadlineMarginSeconds: 50,
  pollIntervalSeconds: 2,
  askIntervalSeconds: 3,
  progressIntervalSeconds: 1,
  failureBudgetCount: 1,
  failureBudgetPercent: 50,
  collectAffidavits: false,
};

export const assumptions: EviNoticeAccount["batch"] = {
  ownLookupKeys: true,
  listPartRows: 0,
  startsBy: "both",
  recipientsPage: 1_000,
  readsPerSecond: 1_000,
};

const terms = { base64: Buffer.from("terms").toString("base64"), mediaType: "text/plain" };

export const csv = (text: string) => ({
  base64: Buffer.from(text).toString("base64"),
  mediaType: "text/csv",
});

export const list =
  "address;legalname;lookupkey\nana@example.com;Ana;order-1\nbo@example.com;Bo;\n";

export const input = {
  description: "June",
  subject: "Your contract",
  body: "<p>Read it, señora.</p>",
  recipients: csv(list),
  attachments: [
    { fileName: "terms.txt", document: terms, includeOnAffidavits: true },
    { fileName: "annex.txt", document: terms },
  ],
} satisfies SendNoticeBatchInput;

interface About {
  sinceMs?: number;
  activityId?: string;
  runId?: string;
  number?: number;
  onHeartbeat?(left: unknown): void;
}
export type Call<R> = (activities: BatchActivities) => Promise<R>;
export type Bench = Awaited<ReturnType<typeof batchBench>>;

/** One simulated provider and one journal, for any number of processes. */
export async function batchBench(options: SandboxOptions = {}) {
  const accounts = [{ username: "trustflow", password: "a password" }];
  const sandbox = await startSandbox({ speed: "manual", accounts, ...options });
  const database = await testDatabase();
  const ring = KeyRing.parse(generateKeyRing());
  const { documents, close: removeDocuments } = await openStore(ring);
  const proofs = { spacingMs: SPACING_MS, invisibleMs: 5_000 };
  /** Nobody listens there, and it is on this machine: what is reported goes nowhere. */
  const callbackUrl = `${sandbox.url}/nobody`;
  let processes = 0;

  /** A process of its own. */
  function batch(account: Partial<EviNoticeAccount> = {}, more: Partial<BatchDependencies> = {}) {
    const workflowId = `sendNoticeBatch/${(processes += 1)}`;
    /** The sandbox's ledger knows the batch by it. */
    const description = `June ${processes}`;
    const opened: number[] = [];
    const addresses: number[] = [];
    const deps = {
      environmentOf: () => "sandbox",
      defaults: { sendNoticeBatch: settings },
      accounts: {
        default: {
          ...accountAt(sandbox.url, { timeoutMs: 0.8 * LEASE_MS }),
          lookUpConfiguration: "digest",
          uploadTimeoutMs: 20_000,
          batch: assumptions,
          ...account,
        },
      },
      journal: new Journal(database.pool, sealersIn(), {
        leaseMs: LEASE_MS,
        lookUpSpacingMs: SPACING_MS,
      }),
      lookUpProofs: new LookUpProofs(database.pool, ring, proofs),
      digests: {
        of: (value: unknown) => inputDigest(ring, value),
        same: (value: unknown, stored: string) => sameInput(ring, value, stored),
      },
      documents,
      secrets: { open: (text: string) => text },
      circuits: new Circuits({ probeMs: 600_000, failures: 1_000 }),
      callback: ({ rows }: { rows: number }) => {
        addresses.push(rows);
        return { url: callbackUrl, correlation: "c" };
      },
      items: {
        open: async (_: unknown, recipients: number) => void opened.push(recipients),
      },
      patienceMs: 10,
      invisibleForMs: 60_000,
      unavailableForMs: 60_000,
      ...more,
    } as unknown as BatchDependencies;
    const activities = createBatchActivities(deps);

    /** One attempt. `sinceMs`: how long ago the activity was scheduled. */
    const attempt = <R>(call: Call<R>, about: About = {}) => {
      const { sinceMs = 0, activityId = "1", runId = "r", number = 1, onHeartbeat } = about;
      const info = {
        namespace: "default",
        workflowExecution: { workflowId, runId },
        scheduledTimestampMs: Date.now() - sinceMs,
        activityId,
        attempt: number,
      };
      return inAttempt(() => call(activities), info, { ...(onHeartbeat && { onHeartbeat }) });
    };

    /** Until it ends, or fails for good. */
    async function run<R>(call: Call<R>, about: { sinceMs?: number } = {}): Promise<R> {
      for (let number = 1; ; number += 1) {
        try {
          return await attempt(call, { ...about, number });
        } catch (error) {
          const isOver = !(error instanceof ApplicationFailure) || error.nonRetryable === true;
          if (isOver || number === MAX_ATTEMPTS) throw error;
          await delay(Math.min(Number(error.nextRetryDelay ?? 0), MAX_DELAY_MS));
        }
      }
    }

    const effect = (step: string) => ({
      effect: { step, occurrence: "0" },
      mode: "quick" as const,
      account: "default",
    });

    const prepare = (changes: object = {}) =>
      run((all) =>
        all.prepareBatch({ input: { ...input, description, ...changes }, mode: "quick" }),
      );

    /** Prepared and created. */
    async function created(changes: object = {}) {
      const plan = await prepare(changes);
      const { description: words = "" } = plan;
      const create: Call<{ batchId: string }> = (all) =>
        all.createBatch({ ...effect("create"), description: words });
      const { batchId } = await run(create);
      return { plan, batchId };
    }

    /** All steps before the last look. `more`: further settings of the batch. */
    async function setUp(changes: object = {}, more: object = {}) {
      const { plan, batchId } = await created(changes);
      const of = (step: string) => ({ ...effect(step), batchId });
      const { list: sent, attachments, body } = plan;
      const { recipients } = sent;
      const fields = { ...plan.fields, ...more };
      await run((all) => all.setBatchBody({ ...of("body"), body }));
      await run((all) => all.addRecipients({ ...of("recipients"), list: sent }));
      await run((all) => all.addBatchAttachments({ ...of("attachments"), attachments }));
      await run((all) => all.configureBatch({ ...of("configure"), fields, recipients }));
      await sandbox.clock.advance(MINUTE);
      const verify = {
        ...{ account: "default", batchId, mode: "quick" as const },
        ...{ list: sent, attachments: attachments.length },
      };
      return { plan, batchId, of, verify };
    }

    /** Set up and started. */
    async function started(...given: Parameters<typeof setUp>) {
      const { of, ...made } = await setUp(...given);
      await run((all) => all.startBatch(of("start")));
      return made;
    }

    return {
      ...{ workflowId, description, deps, opened, addresses },
      ...{ attempt, run, effect, prepare, created, setUp, started },
    };
  }

  return {
    sandbox,
    control: sandboxControl(sandbox.url),
    documents,
    callbackUrl,
    pool: database.pool,
    batch,
    account: accountAt(sandbox.url),
    async close() {
      await sandbox.close();
      await database.close();
      await removeDocuments();
    },
  };
}
