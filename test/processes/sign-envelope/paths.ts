// Every way through `signEnvelope` (P1 §1.5, 4.5; docs/reading-the-specification.md §0, §7).
import { expect } from "@jest/globals";
import type { EnvelopeHandle, SignEnvelopeInput } from "../../../src/client.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import { envelopeInput } from "./inputs.js";
import {
  attentionOf,
  decide,
  ends,
  isAbandoned,
  knowsNoAccount,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/walk.js";
import type { PathsOf, Walk, Writing } from "../../harness/histories/walk.js";
import { statusWhere } from "../../harness/stack/stack.js";

const once = {
  "envelope-signature.esawoneshot": 1,
  "envelope-signature.upload": 2,
  "envelope-signature.send": 1,
};

export const signEnvelopePaths: PathsOf = {
  process: "signEnvelope",
  activities: ["prepare", "create", "upload", "send", "decide"],
  // Not that of the other quick processes, so that they walk after one another.
  speed: 2,
  accounts: [
    "access-mended",
    "cancelled-between",
    "cancel-withdrawn",
    "input-mismatch",
    "taken-up-again",
    "still-open",
    "still-in-attention",
  ],
  kept: ["request.providerFields.sandbox", "documents[].document.mediaType"],
  inputs: { envelope: (writing) => envelope(writing) },
  paths: {
    async sent(walk) {
      await ends(await begin(walk), "sent");
    },
    async "upload-unanswered"(walk) {
      await ends(await begin(walk, "upload=cut-after-commit"), "sent");
    },
    async "upload-refused-retried"(walk) {
      const handle = await begin(walk, "upload=reject-400");
      await decide(walk, handle, "protocol", "retry");
      await ends(handle, "sent");
    },
    async "upload-refused-happened"(walk) {
      const handle = await begin(walk, "upload=reject-400,send=reject-400");
      await decide(walk, handle, "protocol", "happened", { fileId: "f-17" });
      await statusWhere(handle, ({ attention }) => attention?.step === "send");
      await decide(walk, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },
    async "upload-refused-abandoned"(walk) {
      const handle = await begin(walk, "upload=reject-400");
      await decide(walk, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },
    async "send-happened"(walk) {
      const handle = await begin(walk, "send=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "happened", { envelopeId: "e-17" });
      await ends(handle, "sent");
    },
    async "send-retried"(walk) {
      const handle = await begin(walk, "send=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await ends(handle, "sent");
    },
    async "send-abandoned"(walk) {
      const handle = await begin(walk, "send=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "exists");
    },
    async "request-happened"(walk) {
      const handle = await begin(walk, "esawoneshot=cut-after-commit");
      const esawToken = walk.author.secret("esawToken", walk.author.words("token"));
      const ids = { reqPk: "r-17", esawToken };
      await decide(walk, handle, "unknownOutcome", "happened", ids);
      // Nobody has given this token.
      await decide(walk, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },
    async "request-retried"(walk) {
      const handle = await begin(walk, "esawoneshot=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await ends(handle, "sent");
    },
    async "request-abandoned"(walk) {
      const handle = await begin(walk, "esawoneshot=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
    },
    async "not-accepted"(walk) {
      const handle = await begin(walk, "esawoneshot=reject-400");
      await expect(handle.result()).rejects.toMatchObject({ provider: "envelope-signature" });
    },
    async "access-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await ends(handle, "sent");
    },
    async "cancelled-between"(walk) {
      const { handle } = await cancelled(walk, "abandon");
      await isAbandoned(handle, "exists");
    },
    async "cancel-withdrawn"(walk) {
      const { handle, mend } = await cancelled(walk, "retry");
      await mend();
      await ends(handle, "sent");
    },
    "invalid-input": (walk) => refusesInput(walk, { ...envelope(walk), documents: [] }),
    "unknown-account": (walk) => knowsNoAccount(walk, envelope(walk)),
    async "input-mismatch"(walk) {
      const { account } = walk;
      const { mend } = await denied(walk);
      await temporalHandle(walk).terminate();
      const request = { providerFields: { reference: walk.author.words("another request") } };
      const handle = await start(walk, "signEnvelope", { ...envelope(walk), request, account });
      await expect(handle.result()).rejects.toThrow(/another input/);
      await mend();
    },
    async "taken-up-again"(walk) {
      const { account } = walk;
      const { mend } = await denied(walk);
      await temporalHandle(walk).terminate();
      await mend();
      await ends(await begin(walk, "", { account }), "sent");
      expect(await walk.system.effects(referenceOf(walk))).toEqual(once);
    },
    async "still-open"(walk) {
      await failing(walk, 503);
      const handle = await begin(walk, "", { account: walk.account });
      await statusWhere(handle, ({ references }) => references["reqPk"] !== undefined);
    },
    async "still-in-attention"(walk) {
      await denied(walk);
    },
  },
};

/** A file's name carries it too, so it has no slash. */
const referenceOf = ({ intent }: Writing) => intent.replaceAll("/", ".");

function envelope(writing: Writing, words = ""): SignEnvelopeInput {
  const { author } = writing;
  const input = envelopeInput(referenceOf(writing), words, { names: ["agreement", "annex"] });
  const person = { name: "Ada", addresses: ["Calle Mayor 1", { floor: "first" }] };
  return {
    ...input,
    request: {
      providerFields: {
        ...input.request.providerFields,
        person,
        [author.words("a member")]: "whatever it is",
      },
    },
    documents: input.documents.map((file) => ({ ...file, providerFields: { Note: "Sign here" } })),
    envelope: { providerFields: { Name: "Contract" } },
  };
}

function begin(
  walk: Walk,
  words = "",
  more: Partial<SignEnvelopeInput> = {},
): Promise<EnvelopeHandle> {
  return start(walk, "signEnvelope", { ...envelope(walk, words), ...more });
}

/** The envelope host answers so to every upload of the path, until that is mended. */
async function failing(walk: Walk, status: number) {
  const { sandbox } = walk.system;
  const { id } = await sandbox.addFault({
    operation: "envelope-signature.upload",
    lookupKey: referenceOf(walk),
    kind: "reject",
    status,
    times: "always",
  });
  return () => sandbox.removeFault(id);
}

/** Both uploads wait for a person, under the path's own account. */
async function denied(walk: Walk) {
  const mend = await failing(walk, 401);
  const handle = await begin(walk, "", { account: walk.account });
  await statusWhere(handle, ({ moreAttentions = [] }) => moreAttentions.length === 1);
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}

/** Cancelled in the Web UI while it waits, and what a person makes of it. */
async function cancelled(walk: Walk, decision: Decision) {
  const waiting = await denied(walk);
  await temporalHandle(walk).cancel();
  await decide(walk, waiting.handle, "cancelRequested", decision);
  return waiting;
}
