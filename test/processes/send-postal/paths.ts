// Every way through `sendPostal`.
import { expect } from "@jest/globals";
import type { PostalHandle, SendPostalInput } from "../../../src/client.js";
import type { FaultOptions } from "../../../src/sandbox/engine/faults.js";
import { pdf } from "../../../src/sandbox/exchange/pdf.js";
import {
  attentionOf,
  changePassword,
  decide,
  decidedBy,
  ends,
  isAbandoned,
  knowsNoAccount,
  refusesInput,
  shows,
  start,
  temporalHandle,
} from "../../harness/histories/walk.js";
import type { Path, PathsOf, Walk, Writing } from "../../harness/histories/walk.js";
import { fastSettings, letterInput } from "./inputs.js";
import { eventually } from "../../harness/outages/wait.js";

const advanced = { certificationLevel: "Advanced" } as const;
const onDemand = { ...advanced, affidavitsOnDemandEnabled: true } as const;

export const sendPostalPaths: PathsOf = {
  process: "sendPostal",
  activities: [
    "submit",
    "ask",
    "cancel",
    "requestAffidavit",
    "decide",
    "checkDecision",
    "withdraw",
  ],
  speed: 60_000,
  accounts: [
    "cancelled-before-submit",
    "attention-mended",
    "attention-retry",
    "attention-happened",
    "attention-heard",
    "attention-abandoned",
    "attention-at-question",
    "affidavits-waived",
    "still-in-attention",
  ],
  kept: ["document.mediaType", "options.customFields[].key"],
  inputs: { letter: (writing) => letter(writing, "delivered") },
  paths: {
    delivered: through("delivered", "delivered"),
    undelivered: through("undelivered", "undelivered"),
    "callbacks-doubled": through("delivered,callbacks-doubled", "delivered"),
    "callbacks-lost": through("delivered,callbacks-lost", "delivered"),
    "submit-unanswered": through("delivered,submit=cut-after-commit", "delivered"),
    "affidavit-regenerated": through("delivered,affidavit-regenerated", "delivered", {
      settings: { ...fastSettings, affidavitWindowSeconds: 10 },
    }),
    "no-affidavit-window": through("delivered", "delivered", {
      settings: { ...fastSettings, pollIntervalSeconds: 60, affidavitWindowSeconds: 0 },
    }),

    async "cancelled-in-time"(walk) {
      const handle = await tracked(walk, "cancellable");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-by-name"(walk) {
      const handle = await tracked(walk, "cancellable");
      const stated = { by: walk.author.words("a name"), note: walk.author.words("a note") };
      expect(await handle.cancel(undefined, stated)).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-unclosed"(walk) {
      const handle = await tracked(walk, "cancellable,unclosed");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-and-never-closed"(walk) {
      const settings = { ...fastSettings, restingGraceSeconds: 8 };
      const handle = await tracked(walk, "cancellable,unclosed", { settings });
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-in-web-ui"(walk) {
      const handle = await tracked(walk, "cancellable");
      await temporalHandle(walk).cancel();
      await ends(handle, "cancelled");
    },
    async "cancelled-before-submit"(walk) {
      const { handle, mend } = await denied(walk);
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeSubmit");
      await mend();
    },
    async "cancelled-while-submitting"(walk) {
      const handle = await begin(walk, "cancellable,submit=slow-answer-15000");
      await submitsSeen(walk);
      expect(await handle.cancel()).toEqual({ answer: "pending" });
      await ends(handle, "cancelled");
    },
    async "cancelled-too-late"(walk) {
      const settings = { ...fastSettings, deadlineSeconds: 8 };
      const handle = await begin(walk, "open", { settings });
      await shows(handle, ({ reportedState }) => reportedState === "Sent");
      expect(await handle.cancel()).toEqual({ answer: "tooLate" });
      await ends(handle, "openAtDeadline");
    },
    "open-at-the-deadline": through("open", "openAtDeadline", {
      settings: { ...fastSettings, deadlineSeconds: 12 },
    }),

    async "attention-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-retry"(walk) {
      const { handle, mend } = await uncertain(walk, "delivered,submit=cut");
      await decide(walk, handle, "protocol", "retry");
      await mend();
      // No look-up of this account has found a letter of ours yet: only a person's word sends this one again.
      await decide(walk, handle, "unknownOutcome", "retry");
      await ends(handle, "delivered");
    },
    async "attention-happened"(walk) {
      const { handle, mend } = await uncertain(walk, "delivered,submit=cut-after-commit");
      const { items } = await walk.system.sandbox.items({ intent: walk.intent });
      const result = { uniqueId: items[0]?.id ?? "" };
      await decide(walk, handle, "protocol", "happened", result);
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-heard"(walk) {
      const { handle, mend } = await uncertain(walk, "delivered,submit=cut-after-commit");
      await eventually("a callback", async () =>
        (await handle.status()).timeline.some(({ source }) => source === "callback"),
      );
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-abandoned"(walk) {
      const { handle, mend } = await uncertain(walk, "delivered,submit=cut");
      await decide(walk, handle, "protocol", "abandon");
      await isAbandoned(handle, "unknown");
      await mend();
    },
    async "attention-at-question"(walk) {
      const mend = await unreadable(walk);
      const handle = await begin(walk, "delivered", { account: walk.account });
      const attention = await attentionOf(handle, "protocol");
      await mend();
      const resolution = { ...decidedBy(walk), attention, decision: "retry" } as const;
      await handle.resolve(resolution).catch(() => undefined);
      await ends(handle, "delivered");
    },

    async "affidavit-on-demand"(walk) {
      const handle = await tracked(walk, "delivered", { options: onDemand });
      const answer = await handle.requestAffidavit({ includeDocument: true });
      expect(answer).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },
    async "affidavit-on-demand-twice"(walk) {
      const handle = await tracked(walk, "delivered", { options: onDemand });
      for (const ask of [{ includeDocument: true }, { includeEvents: true }])
        expect(await handle.requestAffidavit(ask)).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },
    async "affidavit-asked-early"(walk) {
      const words = "delivered,submit=slow-answer-2000";
      const handle = await begin(walk, words, { options: onDemand });
      await submitsSeen(walk);
      expect(await handle.requestAffidavit()).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },
    async "affidavit-unanswered"(walk) {
      const words = "delivered,affidavitRequest=cut-after-commit";
      const handle = await tracked(walk, words, { options: onDemand });
      expect(await handle.requestAffidavit()).toEqual({ answer: "unknown" });
      await ends(handle, "delivered");
    },

    async "affidavits-waived"(walk) {
      const settings = { ...fastSettings, affidavitWindowSeconds: 6 };
      const handle = await begin(walk, "delivered", { account: walk.account, settings });
      await shows(handle, ({ phase }) => phase === "affidavits");
      const mend = await unreadable(walk);
      await decide(walk, handle, "protocol", "happened");
      await ends(handle, "delivered");
      await mend();
    },

    async "not-accepted"(walk) {
      const options = { certificationLevel: walk.author.words("level") };
      const handle = await begin(walk, "delivered", { options });
      await expect(handle.result()).rejects.toMatchObject({ provider: "evi-post" });
    },
    async "invalid-input"(walk) {
      const { recipientAddress: _, ...bad } = letter(walk, "delivered");
      await refusesInput(walk, bad);
    },
    async "unknown-account"(walk) {
      await knowsNoAccount(walk, letter(walk, "delivered"));
    },
    async "input-mismatch"(walk) {
      await tracked(walk, "cancellable");
      await temporalHandle(walk).terminate();
      const handle = await begin(walk, "cancellable", {
        issuerComments: walk.author.words("other"),
      });
      await expect(handle.result()).rejects.toThrow(/another input/);
    },

    async terminated(walk) {
      await tracked(walk, "cancellable");
      await temporalHandle(walk).terminate();
    },
    async "taken-up-again"(walk) {
      await tracked(walk, "delivered");
      await temporalHandle(walk).terminate();
      await ends(await begin(walk, "delivered"), "delivered");
    },
    async "still-open"(walk) {
      await tracked(walk, "open");
    },
    async "still-in-attention"(walk) {
      await denied(walk);
    },
  },
};

/** A letter that its words steer, with each part that may be personal. */
function letter(
  { author, intent }: Writing,
  words: string,
  more: Partial<SendPostalInput> = {},
): SendPostalInput {
  const bytes = pdf([author.words("the document")]);
  const plain = letterInput(intent, words);
  return {
    ...plain,
    document: { base64: bytes.toString("base64"), mediaType: "application/pdf" },
    recipientName: "Ada Byron",
    issuerAddress: plain.recipientAddress,
    ...more,
    options: {
      ...advanced,
      evidenceAccessControlMethod: "Challenge",
      evidenceAccessControlChallenge: "The name of the dog",
      evidenceAccessControlChallengeResponse: "Rex",
      ...more.options,
      customFields: [
        { key: "sandbox", label: "Sandbox", value: `sandbox:${words}` },
        { key: "file", label: "File", value: "Byron v. Byron" },
      ],
    },
  };
}

function begin(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  return start(walk, "sendPostal", letter(walk, words, more));
}

async function tracked(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  const handle = await begin(walk, words, more);
  await shows(handle, ({ phase }) => phase === "tracking");
  return handle;
}

function through(words: string, outcome: string, more: Partial<SendPostalInput> = {}): Path {
  return async (walk) => ends(await begin(walk, words, more), outcome);
}

async function denied(walk: Walk): Promise<{ handle: PostalHandle; mend(): Promise<unknown> }> {
  const mend = await changePassword(walk);
  const handle = await begin(walk, "delivered", { account: walk.account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}

/** The questions of the path's own account are refused until that is mended. */
async function unreadable({ system, account }: Walk) {
  const refused = { operation: "evi-post.query", kind: "reject", status: 400, times: "always" };
  const { id: rule } = await system.sandbox.addFault({ ...refused, account } as FaultOptions);
  return () => system.sandbox.removeFault(rule);
}

/** Nobody knows whether the letter was taken: the answer was lost and the question is refused. */
async function uncertain(walk: Walk, words: string) {
  const mend = await unreadable(walk);
  const handle = await begin(walk, words, { account: walk.account });
  await attentionOf(handle, "protocol");
  return { handle, mend };
}

/** Waits until the sandbox has a letter of this process, although nobody was answered yet. */
function submitsSeen({ system, intent }: Walk): Promise<unknown> {
  return eventually(`a submit of ${intent}`, async () => {
    const { total } = await system.sandbox.items({ intent });
    return total > 0;
  });
}
