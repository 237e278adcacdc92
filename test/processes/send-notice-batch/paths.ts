// The ways through `sendNoticeBatch` whose histories differ.
import { expect } from "vitest";
import type { HandleOf, SendNoticeBatchInput } from "../../../src/client.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import {
  attentionOf,
  decide,
  decided,
  ends,
  endsAs,
  faulty,
  isAbandonedWith,
  mismatches,
  notAccepted,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { After, Path, PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eventually } from "../../harness/outages/wait.js";
import { itemOf, mended, refused, waysOf } from "../ways.js";
import type { Waiting } from "../ways.js";
import { batchInput, fastSettings, recipientsCsv, recipientsOf, withAttachment } from "./inputs.js";

type BatchHandle = HandleOf<"sendNoticeBatch">;
type More = Partial<SendNoticeBatchInput>;

const scheduledDate = "2099-01-01T00:00:00.000Z";
/** A row without a legal name is invalid. */
const withInvalidRow = recipientsCsv([
  ["ada@example.com", "Ada", "sandbox:read"],
  ["bo@example.com", "", ""],
]);
const leftOut = { recipients: withInvalidRow, onInvalid: "skip-invalid" } as const;

const { through, opened, denied } = waysOf(begin);
/** It waits for its date. */
const scheduled = waysOf(begin, ({ phase }) => phase === "waiting");

export const sendNoticeBatchPaths: PathsOf = {
  process: "sendNoticeBatch",
  speed: 30_000,
  accounts: [
    "attention-fixed",
    "attention-retry",
    "attention-happened",
    "attention-at-verify",
    "cancelled-during-set-up",
    "cancelled-too-late",
  ],
  kept: [
    "recipients.mediaType",
    "recipients.base64",
    "attachments[].document.mediaType",
    "commitmentOptions",
    "costCentre",
    "scheduledDate",
  ],
  inputs: { batch: (writing) => batch(writing) },
  paths: {
    closed: through("closed", ["read", "refused"], { attachments: [withAttachment()] }),
    "with-affidavits": through("closed", ["read"], {
      affidavitKinds: ["Submitted", "Closed"],
      settings: { ...fastSettings, collectAffidavits: true },
    }),
    async "affidavit-on-demand"(run) {
      const handle = await begin(run, ["open"], {
        affidavitKinds: ["Submitted", "OnDemand"],
        settings: { ...fastSettings, deadlineSeconds: 12 },
      });
      const [notice] = await knownNotices(run, handle);
      const asked = { notice: notice!, includeEvents: true };
      expect(await handle.requestAffidavit(asked)).toMatchObject({ answer: "requested" });
      const { outcome, timeline } = await handle.result();
      expect(outcome).toBe("openAtDeadline");
      const told = { event: "Affidavit on demand: requested", note: `notice ${notice}` };
      expect(timeline).toContainEqual(expect.objectContaining(told));
    },
    "rows-left-out": through("closed", [], {
      ...leftOut,
      settings: { ...fastSettings, failureBudgetCount: 1 },
    }),

    "budget-before-start-continued": budget(leftOut, "retry", endsAs("closed")),
    "budget-before-start-abandoned": budget(leftOut, "abandon", isAbandonedWith("none")),
    "budget-after-start": budget(
      { recipients: recipientsOf(["open", "accepted"]) },
      "abandon",
      isAbandonedWith("exists"),
    ),

    async "cancelled-before-submit"(run) {
      const handle = await begin(run, [], leftOut);
      await attentionOf(handle, "failureBudget");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeSubmit");
    },
    async "cancelled-before-start"(run) {
      const handle = await scheduled.opened(run, ["read"], { scheduledDate });
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeStart");
    },
    async "cancelled-by-the-web-ui"(run) {
      const handle = await scheduled.opened(run, ["read"], { scheduledDate });
      await temporalHandle(run).cancel();
      await ends(handle, "cancelledBeforeStart");
    },
    async "cancelled-during-set-up"(run) {
      const fix = await refused(run, "evi-notice.setBody", 403);
      const handle = await begin(run, ["read"], { account: run.account });
      await attentionOf(handle, "accessDenied");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeStart");
      await fix();
    },
    async "cancelled-too-late"(run) {
      // Without this the batch may have ended before it is cancelled.
      const fix = await refused(run, "evi-notice.query", 503);
      const handle = await opened(run, ["read"], { account: run.account });
      expect(await handle.cancel()).toEqual({ answer: "tooLate" });
      await fix();
      await ends(handle, "closed");
    },

    "attention-fixed": mended(denied, endsAs("closed")),
    async "attention-retry"(run) {
      const { handle, mend } = await uncertain(run, "cut");
      await mend();
      await decide(run, handle, "protocol", "retry");
      await decide(run, handle, "unknownOutcome", "retry");
      await ends(handle, "closed");
    },
    async "attention-happened"(run) {
      const { handle, mend } = await uncertain(run, "cut-after-commit");
      await decide(run, handle, "protocol", "happened", { batchId: await itemOf(run) });
      await mend();
      await ends(handle, "closed");
    },
    async "attention-at-verify"(run) {
      const fix = await refused(run, "evi-notice.listBatchAttachments");
      const handle = await begin(run, ["read"], { account: run.account });
      await attentionOf(handle, "protocol");
      await fix();
      await ends(handle, "closed");
    },
    "batch-invalid": decided(reading, "protocol")("invalid", "abandon", isAbandonedWith("exists")),
    async "batch-failed"(run) {
      const handle = await begin(run, ["read", "refused"], { costCentre: "sandbox:failed" });
      await decide(run, handle, "protocol", "happened");
      await ends(handle, "failed");
    },

    "not-accepted": notAccepted(reading, "unknown", "evi-notice"),
    async "list-refused"(run) {
      const handle = await begin(run, [], { recipients: withInvalidRow });
      await expect(handle.result()).rejects.toMatchObject({
        fields: [{ path: "recipients", problem: expect.stringContaining("line 3") }],
      });
    },
    "input-mismatch": mismatches(
      (run) => opened(run, ["open"]),
      (run) => begin(run, ["open"], { issuerName: run.author.words("other") }),
    ),
  },
};

/** The ids of the notices that the process knows, once there are some. */
async function knownNotices({ system }: PathRun, { workflowId }: { workflowId: string }) {
  const sql = `select i.evidence_id as id from trustflow.batch_items i
    join trustflow.batches b on b.id = i.batch where b.workflow_id = $1`;
  let known: string[] = [];
  await eventually("a notice is known", async () => {
    const { rows } = await system.pool.query<{ id: string }>(sql, [workflowId]);
    known = rows.map(({ id }) => id);
    return known.length > 0;
  });
  return known;
}

/** A batch with each part that may be personal. */
function batch(
  { author, intent }: Writing,
  words = ["read"],
  more: More = {},
): SendNoticeBatchInput {
  return {
    ...batchInput(intent, words),
    body: `<p>${author.words("body")}</p>`,
    recipients: recipientsOf(words, `${author.words("recipients")}.example`),
    ...more,
  };
}

function begin(run: PathRun, words?: string[], more?: More) {
  return start(run, "sendNoticeBatch", batch(run, words, more));
}

/** More failed, or is invalid, than the input allows; a person decides. */
function budget(more: More, decision: Decision, after: After): Path {
  const begun = (run: PathRun) => begin(run, [], more);
  return decided(begun, "failureBudget")(undefined, decision, after);
}

/** A batch of one notice whose cost centre steers the sandbox. */
function reading(run: PathRun, word: string) {
  return begin(run, ["read"], { costCentre: `sandbox:${word}` });
}

/** The outcome of the creation is unknown: the answer was lost and the query is refused. */
async function uncertain(
  run: PathRun,
  kind: "cut" | "cut-after-commit",
): Promise<Waiting<BatchHandle>> {
  const mend = await refused(run, "evi-notice.queryBatches");
  await faulty(run, { operation: "evi-notice.createBatch", kind, times: 1 });
  const handle = await begin(run, ["read"], { account: run.account });
  await attentionOf(handle, "protocol");
  return { handle, mend };
}
