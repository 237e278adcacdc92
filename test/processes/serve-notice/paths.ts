// The ways through `serveNotice` whose histories differ (docs/decisions/0031).
import { expect } from "vitest";
import type { HandleOf, ServeNoticeInput } from "../../../src/client.js";
import { serveChildren } from "../../../src/contracts/serve-notice/states.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import { workflowIdOf } from "../../../src/contracts/shared/names.js";
import {
  attentionOf,
  changePassword,
  decide,
  decided,
  ends,
  endsAs,
  isAbandonedWith,
  notAccepted,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { After, Path, PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eventually } from "../../harness/outages/wait.js";
import { pdf } from "../../../packages/sandbox/src/exchange/pdf.js";
import { withAttachment } from "../send-notice/inputs.js";
import { closesNotice, waysOf } from "../ways.js";
import { fastSettings, serveInput } from "./inputs.js";
import { statusWhere } from "../../harness/stack/stack.js";

const [noticeChild, postChild] = serveChildren;
type Handle = HandleOf<"serveNotice">;

/** So soon that no query of the notice can come before. */
const soon = { settings: { ...fastSettings, deadlineSeconds: 4 } };

const { through, opened } = waysOf(
  begin,
  ({ references }) => references["noticeUniqueId"] !== undefined,
);
const refused = decided(begin, "protocol");

export const serveNoticePaths: PathsOf = {
  process: "serveNotice",
  speed: 30_000,
  accounts: ["notice-abandoned"],
  kept: [
    "post.document.mediaType",
    "post.options.customFields[].key",
    "notice.attachments[].document.mediaType",
  ],
  inputs: { serve: (writing) => serve(writing, "read") },
  paths: {
    read: through("servedByNotice", "read"),
    refused: through("servedByPost", "refused/delivered"),
    "not-served": through("notServed", "refused/undelivered"),
    "deadline-delivered": through("servedByPost", "open/delivered", {
      settings: { ...soon.settings, notice: { ...fastSettings.notice, deadlineSeconds: 20 } },
    }),
    async "read-after-the-escalation"(run) {
      const handle = await begin(run, "open/delivered", soon);
      await started(run, postChild);
      await closesNotice(run, "Read");
      await ends(handle, "servedByBoth");
    },

    // The sandbox refuses a magic word that the commitment does not allow.
    "notice-not-accepted": notAccepted(begin, "accepted/delivered", "evi-notice"),
    "post-not-accepted-waived": postRefused("happened", endsAs("notServed")),
    "post-not-accepted-abandoned": postRefused("abandon", isAbandonedWith("exists")),

    async "notice-abandoned"(run) {
      const fix = await changePassword(run);
      const handle = await begin(run, "read", { account: run.account });
      await started(run, noticeChild);
      await decide(run, childOf(run, noticeChild), "accessDenied", "abandon");
      await attentionOf(handle, "protocol");
      await fix();
      await decide(run, handle, "protocol", "retry");
      await ends(handle, "servedByNotice");
    },
    async "notice-terminated"(run) {
      const handle = await opened(run, "open/delivered");
      await temporalOf(run, noticeChild).terminate();
      await decide(run, handle, "protocol", "happened");
      await ends(handle, "servedByPost");
    },

    async "cancelled-before-the-post"(run) {
      const handle = await opened(run, "refused-late/delivered");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await closes(run);
      await ends(handle, "notServed");
    },
    async "cancelled-and-taken-up-again"(run) {
      const handle = await opened(run, "refused-late/delivered");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await temporalHandle(run).terminate();
      const again = await begin(run, "refused-late/delivered");
      await closes(run);
      await ends(again, "notServed");
      expect((await again.result()).post?.outcome).toBe("cancelledBeforeSubmit");
    },
    async "cancelled-in-web-ui"(run) {
      const handle = await opened(run, "refused-late/delivered");
      await temporalHandle(run).cancel();
      await statusWhere(handle, ({ timeline }) =>
        timeline.some(({ event }) => event === "Cancel: cancelled"),
      );
      await closes(run);
      await ends(handle, "notServed");
    },
    async "cancelled-too-late"(run) {
      const handle = await begin(run, "refused/delivered");
      await started(run, postChild);
      expect(await handle.cancel()).toEqual({
        answer: "tooLate",
        child: workflowIdOf(postChild.process, `${run.id}${postChild.suffix}`),
      });
      await ends(handle, "servedByPost");
    },

    async "invalid-input"(run) {
      const { post: _, ...bad } = serve(run, "read");
      await refusesInput(run, bad);
    },
    async "input-mismatch"(run) {
      await opened(run, "open");
      await temporalHandle(run).terminate();
      const { notice } = serve(run, "open");
      const other = { notice: { ...notice, issuerLegalName: run.author.words("other") } };
      const handle = await begin(run, "open", other);
      await expect(handle.result()).rejects.toThrow(/another input/);
    },
    async "taken-up-with-the-post"(run) {
      await begin(run, "refused/delivered");
      await started(run, postChild);
      await temporalHandle(run).terminate();
      await ends(await begin(run, "refused/delivered"), "servedByPost");
    },
  },
};

/** A notice and a letter that their words steer, with parts that may be personal, and a secret in each. */
function serve(
  { author, intent }: Writing,
  words: string,
  more: Partial<ServeNoticeInput> = {},
): ServeNoticeInput {
  const { notice, post, ...rest } = serveInput(intent, words, more);
  const challenge = {
    evidenceAccessControlMethod: "Challenge",
    evidenceAccessControlChallenge: "The name of the dog",
    evidenceAccessControlChallengeResponse: "Rex",
  } as const;
  const letter = pdf([author.words("the document")]);
  const steering = { key: "sandbox", label: "Sandbox", value: post.recipientName ?? "" };
  return {
    notice: {
      ...notice,
      body: `<p>${author.words("notice.body")}</p>`,
      recipientAddress: `${author.words("notice.recipientAddress")}@canary.example`,
      recipientLegalName: "Ada Byron",
      attachments: [withAttachment(Buffer.from(author.words("the attachment")))],
      ...challenge,
    },
    post: {
      ...post,
      document: { base64: letter.toString("base64"), mediaType: "application/pdf" },
      recipientName: "Ada Byron",
      options: { certificationLevel: "Advanced", ...challenge, customFields: [steering] },
    },
    ...rest,
  };
}

function begin(run: PathRun, words = "read", more?: Partial<ServeNoticeInput>): Promise<Handle> {
  return start(run, "serveNotice", serve(run, wordsOf(words), more));
}

/** A notice that stays open until the path closes it as refused. */
const wordsOf = (words: string) => words.replace("refused-late", "open");

type ChildOf = (typeof serveChildren)[number];

function childOf(run: PathRun, { process: processName, suffix }: ChildOf) {
  return run.system.client.handle(workflowIdOf(processName, `${run.id}${suffix}`));
}

function temporalOf(run: PathRun, child: ChildOf) {
  return run.system.client.temporal.workflow.getHandle(childOf(run, child).workflowId);
}

/** As long as `shows` waits: where nothing is cached, each step takes a replay. */
function started(run: PathRun, child: ChildOf): Promise<unknown> {
  const isStarted = () =>
    childOf(run, child)
      .isOpen()
      .then(
        () => true,
        () => false,
      );
  return eventually(`the start of ${child.process}`, isStarted, 60_000);
}

/** The provider closes the notice as refused. */
const closes = (run: PathRun) => closesNotice(run, "Refused");

/** The provider refuses the letter for good; a person decides what becomes of the process. */
function postRefused(decision: Decision, after: After): Path {
  return refused("refused/submit=reject-400", decision, after);
}
