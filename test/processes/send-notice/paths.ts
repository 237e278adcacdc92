// The ways through `sendNotice` whose histories differ.
import { expect } from "vitest";
import type { HandleOf, SendNoticeInput } from "../../../src/client.js";
import {
  attentionOf,
  decide,
  ends,
  endsAs,
  isAbandonedWith,
  notAccepted,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eviAttention, submitsSeen } from "../evi-paths.js";
import { closesNotice, mended, refused, unbroken, cancelled, waysOf } from "../ways.js";
import { fastSettings, noticeInput, withAttachment } from "./inputs.js";
import { statusWhere } from "../../harness/stack/stack.js";

const onDemand = {
  affidavitKinds: ["Submitted", "Closed", "OnDemand"],
} as Partial<SendNoticeInput>;
/** It stays delivered until the path closes it. */
const unhurried = "open";

const { through, opened, denied } = waysOf(begin);
const cancelledOpen = cancelled(unbroken((run) => opened(run, unhurried)));
const attention = eviAttention({ query: "evi-notice.query", good: "read", begin });

export const sendNoticePaths: PathsOf = {
  process: "sendNotice",
  speed: 30_000,
  accounts: [
    "attention-fixed",
    "attention-retry",
    "attention-happened",
    "attention-abandoned",
    "attention-at-question",
    "affidavits-waived",
    "attachments-waived",
  ],
  kept: ["attachments[].document.mediaType"],
  inputs: { notice: (writing) => notice(writing) },
  paths: {
    async read(run) {
      const { outcome, reported } = await (await begin(run, "read")).result();
      expect(outcome).toBe("read");
      const about = { ipAddress: expect.stringMatching(/^192\.0\.2\./), progress: 100 };
      expect(reported).toContainEqual(expect.objectContaining({ kind: "Read", ...about }));
    },
    "submit-unanswered": through("read", "read,submit=cut-after-commit"),
    "affidavit-regenerated": through("read", "read,affidavit-regenerated", {
      settings: { ...fastSettings, affidavitWindowSeconds: 20 },
    }),
    "open-at-the-deadline": through("openAtDeadline", "open", {
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

    "cancelled-and-continued": cancelledOpen("retry", closes),
    "cancelled-and-abandoned": cancelledOpen("abandon", isAbandonedWith("exists")),

    "attention-fixed": mended(denied, endsAs("read")),
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
      const handle = await opened(run, unhurried, onDemand);
      const answer = await handle.requestAffidavit({ includeEvents: true });
      expect(answer).toMatchObject({ answer: "requested" });
      await closes(run, handle);
    },
    async "affidavit-not-requested-at-submit"(run) {
      const handle = await opened(run, unhurried);
      expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
      await closes(run, handle);
    },
    async "affidavits-at-the-limit"(run) {
      const handle = await opened(run, unhurried, onDemand);
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
    async "taken-up-again"(run) {
      await opened(run, unhurried);
      await temporalHandle(run).terminate();
      await closes(run, await begin(run, unhurried));
    },
  },
};

/** A notice that its words steer, with each part that may be personal. */
function notice(
  { author, intent }: Writing,
  words = "read",
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

function begin(run: PathRun, words?: string, more?: Partial<SendNoticeInput>) {
  return start(run, "sendNotice", notice(run, words, more));
}

/** The provider closes it once it is delivered, and it ends so. */
async function closes(run: PathRun, handle: HandleOf<"sendNotice">): Promise<void> {
  await closesNotice(run);
  await ends(handle, "delivered");
}
