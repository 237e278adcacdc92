// The ways through `sendNotice` whose histories differ.
import { expect } from "vitest";
import type { HandleOf, SendNoticeInput } from "../../../src/client.js";
import {
  attentionOf,
  cancels,
  decide,
  ends,
  isAbandoned,
  mismatches,
  notAccepted,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { Path, PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eventually } from "../../harness/outages/wait.js";
import { eviAttention, refused, submitsSeen } from "../evi-paths.js";
import { fastSettings, noticeInput, withAttachment } from "./inputs.js";
import { statusWhere } from "../../harness/stack/stack.js";

const onDemand = {
  affidavitKinds: ["Submitted", "Closed", "OnDemand"],
} as Partial<SendNoticeInput>;
/** It stays delivered until the path closes it. */
const unhurried = "open";

const attention = eviAttention({ query: "evi-notice.query", good: "read", begin });

export const sendNoticePaths: PathsOf = {
  process: "sendNotice",
  activities: ["submit", "ask", "attachments", "requestAffidavit", "decide", "checkDecision"],
  speed: 30_000,
  accounts: [
    "attention-fixed",
    "attention-retry",
    "attention-happened",
    "attention-abandoned",
    "attention-at-question",
    "affidavits-waived",
    "attachments-waived",
    "still-in-attention",
  ],
  kept: ["attachments[].document.mediaType"],
  inputs: { notice: (writing) => notice(writing, "read") },
  paths: {
    async read(run) {
      const { outcome, reported } = await (await begin(run, "read")).result();
      expect(outcome).toBe("read");
      const about = { ipAddress: expect.stringMatching(/^192\.0\.2\./), progress: 100 };
      expect(reported).toContainEqual(expect.objectContaining({ kind: "Read", ...about }));
    },
    "submit-unanswered": through("read,submit=cut-after-commit", "read"),
    "affidavit-regenerated": through("read,affidavit-regenerated", "read", {
      settings: { ...fastSettings, affidavitWindowSeconds: 20 },
    }),
    "open-at-the-deadline": through("open", "openAtDeadline", {
      settings: { ...fastSettings, deadlineSeconds: 8 },
    }),

    async "with-attachments"(run) {
      const attachments = [withAttachment(Buffer.from(run.author.words("the attachment")))];
      const handle = await begin(run, "read", { attachments });
      const { outcome, documents } = await handle.result();
      expect(outcome).toBe("read");
      const kept = documents.filter(({ kind }) => kind === "attachment");
      expect(kept.map(({ document }) => document.sha256)).toEqual(
        documents.filter(({ kind }) => kind === "submitted").map(({ document }) => document.sha256),
      );
    },

    async "cancelled-and-continued"(run) {
      const handle = await tracked(run, unhurried);
      await cancels(run, handle, "retry");
      await closes(run, handle);
    },
    async "cancelled-and-abandoned"(run) {
      const handle = await tracked(run, "open");
      await cancels(run, handle, "abandon");
      await isAbandoned(handle, "exists");
    },

    async "attention-fixed"(run) {
      const { handle, fix } = await attention.denied(run);
      await fix();
      await ends(handle, "read");
    },
    ...attention.paths,
    async "attention-at-question"(run) {
      const fix = await refused(run, "evi-notice.get");
      const handle = await begin(run, "read", { account: run.account });
      await attentionOf(handle, "protocol");
      await fix();
      await ends(handle, "read");
    },
    async "affidavits-waived"(run) {
      // None is published after the close, so that the last query alone meets the refusal.
      const more = { affidavitKinds: ["Submitted" as const], account: run.account };
      const settings = { ...fastSettings, affidavitWindowSeconds: 6 };
      const handle = await begin(run, "read", { ...more, settings });
      await statusWhere(handle, ({ phase }) => phase === "affidavits");
      const fix = await refused(run, "evi-notice.get");
      await decide(run, handle, "protocol", "happened");
      await ends(handle, "read");
      await fix();
    },
    async "attachments-waived"(run) {
      const fix = await refused(run, "evi-notice.attachments");
      const attachments = [withAttachment(Buffer.from(run.author.words("the attachment")))];
      const handle = await begin(run, "read", { account: run.account, attachments });
      await decide(run, handle, "protocol", "happened");
      const { outcome, documents } = await handle.result();
      expect(outcome).toBe("read");
      expect(documents.map(({ kind }) => kind)).not.toContain("attachment");
      await fix();
    },

    async "affidavit-on-demand"(run) {
      const handle = await tracked(run, unhurried, onDemand);
      const answer = await handle.requestAffidavit({ includeEvents: true });
      expect(answer).toMatchObject({ answer: "requested" });
      await closes(run, handle);
    },
    async "affidavit-not-requested-at-submit"(run) {
      const handle = await tracked(run, unhurried);
      expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
      await closes(run, handle);
    },
    async "affidavits-at-the-limit"(run) {
      const handle = await tracked(run, unhurried, onDemand);
      for (const _ of [1, 2, 3])
        expect(await handle.requestAffidavit()).toMatchObject({ answer: "requested" });
      expect(await handle.requestAffidavit()).toEqual({ answer: "limitReached" });
      await closes(run, handle);
    },
    async "affidavit-asked-early"(run) {
      const handle = await begin(run, `${unhurried},submit=slow-answer-2000`, onDemand);
      await submitsSeen(run);
      expect(await handle.requestAffidavit()).toMatchObject({ answer: "requested" });
      await closes(run, handle);
    },

    // The sandbox refuses a magic word that the commitment does not allow.
    "not-accepted": notAccepted(begin, "accepted", "evi-notice"),
    async "invalid-input"(run) {
      const { recipientAddress: _, ...bad } = notice(run, "read");
      await refusesInput(run, bad);
    },
    "input-mismatch": mismatches(
      (run) => tracked(run, "open"),
      (run) => begin(run, "open", { issuerLegalName: run.author.words("other") }),
    ),

    async terminated(run) {
      await tracked(run, "open");
      await temporalHandle(run).terminate();
    },
    async "taken-up-again"(run) {
      await tracked(run, unhurried);
      await temporalHandle(run).terminate();
      await closes(run, await begin(run, unhurried));
    },
    async "still-open"(run) {
      await tracked(run, "open");
    },
    async "still-in-attention"(run) {
      await attention.denied(run);
    },
  },
};

/** A notice that its words steer, with each part that may be personal. */
function notice(
  { author, intent }: Writing,
  words: string,
  more: Partial<SendNoticeInput> = {},
): SendNoticeInput {
  return {
    ...noticeInput(intent, words),
    body: `<p>${author.words("body")}</p>`,
    recipientAddress: `${author.words("recipientAddress")}@canary.example`,
    recipientLegalName: "Ada Byron",
    issuerLegalName: "Byron v. Byron",
    evidenceAccessControlMethod: "Challenge",
    evidenceAccessControlChallenge: "The name of the dog",
    evidenceAccessControlChallengeResponse: "Rex",
    ...more,
  };
}

function begin(run: PathRun, words: string, more: Partial<SendNoticeInput> = {}) {
  return start(run, "sendNotice", notice(run, words, more));
}

async function tracked(run: PathRun, words: string, more: Partial<SendNoticeInput> = {}) {
  const handle = await begin(run, words, more);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  return handle;
}

function through(words: string, outcome: string, more: Partial<SendNoticeInput> = {}): Path {
  return async (run) => ends(await begin(run, words, more), outcome);
}

/** The provider closes it once it is delivered, and it ends so. */
async function closes(run: PathRun, handle: HandleOf<"sendNotice">): Promise<void> {
  const { sandbox } = run.system;
  const id = await eventually("the delivery", async () => {
    const { items } = await sandbox.items({ intent: run.intent });
    return items.find(({ state }) => state === "Delivered")?.id;
  });
  await sandbox.move(id, { state: "Closed" });
  await ends(handle, "delivered");
}
