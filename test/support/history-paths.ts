// Every way through a process, each walked on the real stack: what replay records, what runs without a cache, and what the
// canaries are looked for in. A new process adds its paths, never a harness.
import { expect } from "@jest/globals";
import {
  attentionOf,
  begin,
  denied,
  ends,
  onDemand,
  plainly,
  submitsSeen,
  temporalHandle,
  through,
  tracked,
  uncertain,
  unreadable,
} from "./history-walk.js";
import type { PathsOf } from "./history-walk.js";
import { fastSettings } from "./letters.js";
import { statusWhere } from "./stack.js";

export const sendPostalPaths: PathsOf = {
  process: "sendPostal",
  accounts: [
    "cancelled-before-submit",
    "attention-mended",
    "attention-retry",
    "attention-happened",
    "attention-abandoned",
    "attention-at-question",
    "affidavits-waived",
    "still-in-attention",
  ],
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
    async "cancelled-unclosed"(walk) {
      const handle = await tracked(walk, "cancellable,unclosed");
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
      const handle = await begin(walk, "cancellable,submit=slow-answer-5000");
      await submitsSeen(walk);
      expect(await handle.cancel()).toEqual({ answer: "pending" });
      await ends(handle, "cancelled");
    },
    async "cancelled-too-late"(walk) {
      const settings = { ...fastSettings, deadlineSeconds: 8 };
      const handle = await begin(walk, "open", { settings });
      await statusWhere(handle, ({ reportedState }) => reportedState === "Sent");
      expect(await handle.cancel()).toEqual({ answer: "tooLate" });
      await ends(handle, "openAtDeadline");
    },

    async "attention-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-retry"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut");
      const answer = await handle.resolve({ ...decided, decision: "retry" });
      expect(answer).toEqual({ answer: "resolved" });
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-happened"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut-after-commit");
      const { items } = await walk.system.sandbox.items({ intent: walk.author.intent(walk.id) });
      const result = { uniqueId: items[0]?.id ?? "" };
      const answer = await handle.resolve({ ...decided, decision: "happened", result });
      expect(answer).toEqual({ answer: "resolved" });
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-abandoned"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut");
      await handle.resolve({ ...decided, decision: "abandon" });
      await expect(handle.result()).rejects.toMatchObject({ details: { effect: "unknown" } });
      await mend();
    },
    async "attention-at-question"(walk) {
      const mend = await unreadable(walk);
      const handle = await begin(walk, "delivered", { account: walk.id });
      const attention = await attentionOf(handle, "protocol");
      await mend();
      const [by, note] = [walk.author.words("name"), walk.author.words("note")];
      await handle.resolve({ attention, decision: "retry", by, note }).catch(() => undefined);
      await ends(handle, "delivered");
    },

    async "affidavit-on-demand"(walk) {
      const handle = await tracked(walk, "delivered", { options: onDemand });
      const answer = await handle.requestAffidavit({ includeDocument: true });
      expect(answer).toMatchObject({ answer: "requested" });
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
      const handle = await begin(walk, "delivered", { account: walk.id, settings });
      await statusWhere(handle, ({ phase }) => phase === "affidavits");
      const mend = await unreadable(walk);
      const attention = await attentionOf(handle, "protocol");
      const [by, note] = [walk.author.words("name"), walk.author.words("note")];
      const decision = { attention, decision: "happened", by, note } as const;
      expect(await handle.resolve(decision)).toEqual({ answer: "resolved" });
      await ends(handle, "delivered");
      await mend();
    },

    async "not-accepted"(walk) {
      const options = { certificationLevel: walk.author.words("level") };
      const handle = await begin(walk, "delivered", { options });
      await expect(handle.result()).rejects.toMatchObject({ provider: "evi-post" });
    },
    async "invalid-input"(walk) {
      const { recipientAddress: _, ...bad } = walk.author.letter(walk.id, "delivered", {});
      const unheard = { [walk.author.words("key")]: walk.author.words("value") };
      const handle = await plainly(walk, { ...bad, ...unheard });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
    },
    async "unknown-account"(walk) {
      const input = walk.author.letter(walk.id, "delivered", {});
      const handle = await plainly(walk, { ...input, account: walk.author.words("account") });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
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
