// The ways through `signEnvelope` whose histories differ (P1 §1.5, 4.5; docs/reading-the-specification.md §0, §7).
import { expect } from "vitest";
import type { EnvelopeHandle, SignEnvelopeInput } from "../../../src/client.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { envelopeInput } from "./inputs.js";
import {
  attentionOf,
  decide,
  decided,
  ends,
  endsAs,
  freeFields,
  isAbandoned,
  isAbandonedWith,
  notAccepted,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { statusWhere } from "../../harness/stack/stack.js";
import { cancelled, refusedFor, waysOf } from "../ways.js";
import type { Waiting } from "../ways.js";

const once = {
  "envelope-signature.esawoneshot": 1,
  "envelope-signature.upload": 2,
  "envelope-signature.send": 1,
};

const doubted = decided(begin, "unknownOutcome");
const { through } = waysOf(begin);
const cancelledDenied = cancelled(denied);
const refused = decided(begin, "protocol");

export const signEnvelopePaths: PathsOf = {
  process: "signEnvelope",
  // Not that of the other quick processes, so that they run one after another.
  speed: 2,
  accounts: ["cancelled-between", "cancel-withdrawn", "taken-up-again"],
  // A document has to be the provider's own PDF.
  kept: [
    "request.providerFields.sandbox",
    ...["base64", "mediaType"].map((name) => `documents[].document.${name}`),
  ],
  inputs: { envelope: (writing) => envelope(writing) },
  paths: {
    sent: through("sent"),
    "upload-unanswered": through("sent", "upload=cut-after-commit"),
    "upload-refused-retried": refused("upload=reject-400", "retry", endsAs("sent")),
    async "upload-refused-happened"(run) {
      const handle = await begin(run, "upload=reject-400,send=reject-400");
      await decide(run, handle, "protocol", "happened", { fileId: "f-17" });
      await statusWhere(handle, ({ attention }) => attention?.step === "send");
      await decide(run, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },
    "upload-refused-abandoned": refused("upload=reject-400", "abandon", isAbandonedWith("exists")),
    "send-retried": doubted("send=cut", "retry", endsAs("sent")),
    "send-abandoned": doubted("send=cut-after-commit", "abandon", isAbandonedWith("exists")),
    async "request-happened"(run) {
      const handle = await begin(run, "esawoneshot=cut-after-commit");
      const esawToken = run.author.secret("esawToken", run.author.words("token"));
      const ids = { reqPk: "r-17", esawToken };
      await decide(run, handle, "unknownOutcome", "happened", ids);
      // No provider has issued this token.
      await decide(run, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },
    "request-retried": doubted("esawoneshot=cut", "retry", endsAs("sent")),
    "request-abandoned": doubted(
      "esawoneshot=cut-after-commit",
      "abandon",
      isAbandonedWith("unknown"),
    ),
    "not-accepted": notAccepted(begin, "esawoneshot=reject-400", "envelope-signature"),
    "cancelled-between": cancelledDenied("abandon", async (run, handle) => {
      await isAbandoned(handle, "exists");
      const { typedSearchAttributes } = await temporalHandle(run).describe();
      expect(typedSearchAttributes.get(searchAttributes.attention)).toBeUndefined();
    }),
    "cancel-withdrawn": cancelledDenied("retry", endsAs("sent")),
    "invalid-input": (run) => refusesInput(run, { ...envelope(run), documents: [] }),
    async "taken-up-again"(run) {
      const { account } = run;
      const { mend } = await denied(run);
      await temporalHandle(run).terminate();
      await mend();
      await ends(await begin(run, "", { account }), "sent");
      expect(await run.system.effects(referenceOf(run))).toEqual(once);
    },
  },
};

/** A file's name carries it too, so it has no slash. */
const referenceOf = ({ intent }: Writing) => intent.replaceAll("/", ".");

function envelope(writing: Writing, words = ""): SignEnvelopeInput {
  const input = envelopeInput(referenceOf(writing), words, { names: ["agreement", "annex"] });
  return {
    ...input,
    request: { providerFields: { ...input.request.providerFields, ...freeFields(writing) } },
    documents: input.documents.map((file) => ({ ...file, providerFields: { Note: "Sign here" } })),
    envelope: { providerFields: { Name: "Contract" } },
  };
}

function begin(
  run: PathRun,
  words?: string,
  more?: Partial<SignEnvelopeInput>,
): Promise<EnvelopeHandle> {
  return start(run, "signEnvelope", { ...envelope(run, words), ...more });
}

/** Both uploads wait for a person, under the path's own account. */
async function denied(run: PathRun): Promise<Waiting<EnvelopeHandle>> {
  const own = { system: run.system, intent: referenceOf(run) };
  const { mend } = await refusedFor(own, "envelope-signature.upload", 401);
  const handle = await begin(run, "", { account: run.account });
  await statusWhere(handle, ({ moreAttentions = [] }) => moreAttentions.length === 1);
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}
