// The ways through `sendPostal` whose histories differ.
import { expect } from "vitest";
import type { SendPostalInput } from "../../../src/client.js";
import { pdf } from "../../../packages/sandbox/src/exchange/pdf.js";
import {
  attentionOf,
  decide,
  decidedBy,
  ends,
  endsAs,
  knowsNoAccount,
  mismatches,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eviAttention, submitsSeen } from "../evi-paths.js";
import { mended, refused, waysOf } from "../ways.js";
import { fastSettings, letterInput } from "./inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { statusWhere } from "../../harness/stack/stack.js";

const advanced = { certificationLevel: "Advanced" } as const;
const onDemand = { ...advanced, affidavitsOnDemandEnabled: true } as const;

const { through, opened, denied } = waysOf(begin);
const attention = eviAttention({ query: "evi-post.query", good: "delivered", begin });

export const sendPostalPaths: PathsOf = {
  process: "sendPostal",
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
  ],
  kept: ["document.mediaType", "options.customFields[].key"],
  inputs: { letter: (writing) => letter(writing) },
  paths: {
    delivered: through("delivered"),
    "affidavit-regenerated": through("delivered", "delivered,affidavit-regenerated", {
      settings: { ...fastSettings, affidavitWindowSeconds: 10 },
    }),

    async "cancelled-by-name"(run) {
      const handle = await opened(run, "cancellable");
      const stated = { by: run.author.words("a name"), note: run.author.words("a note") };
      expect(await handle.cancel(undefined, stated)).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-unclosed"(run) {
      const handle = await opened(run, "cancellable,unclosed");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-and-never-closed"(run) {
      const settings = { ...fastSettings, restingGraceSeconds: 8 };
      const handle = await opened(run, "cancellable,unclosed", { settings });
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-in-web-ui"(run) {
      const handle = await opened(run, "cancellable");
      await temporalHandle(run).cancel();
      await ends(handle, "cancelled");
    },
    async "cancelled-before-submit"(run) {
      const { handle, mend } = await denied(run);
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeSubmit");
      await mend();
    },
    async "cancelled-while-submitting"(run) {
      const handle = await begin(run, "cancellable,submit=slow-answer-15000");
      await submitsSeen(run);
      expect(await handle.cancel()).toEqual({ answer: "pending" });
      await ends(handle, "cancelled");
    },
    async "cancelled-too-late"(run) {
      const settings = { ...fastSettings, deadlineSeconds: 8 };
      const handle = await begin(run, "open", { settings });
      await statusWhere(handle, ({ reportedState }) => reportedState === "Sent");
      expect(await handle.cancel()).toEqual({ answer: "tooLate" });
      expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
      await ends(handle, "openAtDeadline");
      expect(await run.system.effects(run.intent)).toEqual({ "evi-post.submit": 1 });
    },
    "open-at-the-deadline": through("openAtDeadline", "open", {
      settings: { ...fastSettings, deadlineSeconds: 12 },
    }),

    "attention-mended": mended(denied, endsAs("delivered")),
    ...attention.paths,
    async "attention-heard"(run) {
      const { handle, mend } = await attention.uncertain(run, "cut-after-commit");
      await eventually("a callback", async () =>
        (await handle.status()).timeline.some(({ source }) => source === "callback"),
      );
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-at-question"(run) {
      const fix = await refused(run, "evi-post.query");
      const handle = await begin(run, "delivered", { account: run.account });
      const id = await attentionOf(handle, "protocol");
      await fix();
      const resolution = { ...decidedBy(run), attention: id, decision: "retry" } as const;
      await handle.resolve(resolution).catch(() => undefined);
      await ends(handle, "delivered");
    },

    async "affidavit-on-demand"(run) {
      const handle = await opened(run, "delivered", { options: onDemand });
      const answer = await handle.requestAffidavit({ includeDocument: true });
      expect(answer).toEqual({ answer: "requested", requestId: expect.any(String) });
      const { outcome, documents } = await handle.result();
      expect(outcome).toBe("delivered");
      const { requestId } = answer as { requestId: string };
      expect(documents.filter((document) => document.requestId === requestId)).toHaveLength(1);
    },
    async "affidavit-on-demand-twice"(run) {
      const handle = await opened(run, "delivered", { options: onDemand });
      for (const ask of [{ includeDocument: true }, { includeEvents: true }])
        expect(await handle.requestAffidavit(ask)).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },
    async "affidavit-asked-early"(run) {
      const words = "delivered,submit=slow-answer-2000";
      const handle = await begin(run, words, { options: onDemand });
      await submitsSeen(run);
      expect(await handle.requestAffidavit()).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },

    async "affidavits-waived"(run) {
      const settings = { ...fastSettings, affidavitWindowSeconds: 6 };
      const handle = await begin(run, "delivered", { account: run.account, settings });
      await statusWhere(handle, ({ phase }) => phase === "affidavits");
      const fix = await refused(run, "evi-post.query");
      await decide(run, handle, "protocol", "happened");
      await ends(handle, "delivered");
      await fix();
    },

    async "not-accepted"(run) {
      const options = { certificationLevel: run.author.words("level") };
      const handle = await begin(run, "delivered", { options });
      await expect(handle.result()).rejects.toMatchObject({
        details: { provider: "evi-post" },
        fields: [expect.objectContaining({ path: "options.certificationLevel" })],
      });
    },
    async "invalid-input"(run) {
      const { recipientAddress: _, ...bad } = letter(run);
      await refusesInput(run, bad);
    },
    async "unknown-account"(run) {
      await knowsNoAccount(run, letter(run));
    },
    "input-mismatch": mismatches(
      (run) => opened(run, "cancellable"),
      (run) => begin(run, "cancellable", { issuerComments: run.author.words("other") }),
    ),

    async terminated(run) {
      await opened(run, "cancellable");
      await temporalHandle(run).terminate();
    },
    async "still-open"(run) {
      await opened(run, "open");
    },
  },
};

/** A letter that its words steer, with each part that may be personal. */
function letter(
  { author, intent }: Writing,
  words = "delivered",
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

function begin(run: PathRun, words?: string, more?: Partial<SendPostalInput>) {
  return start(run, "sendPostal", letter(run, words, more));
}
