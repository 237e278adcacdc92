// A one-shot signature request: created, filled, identified by video where it wants that, confirmed, signed with the signer's
// code, and fetched (P1 §1.4, 2.9, 4.4, 6.2; docs/reading-the-specification.md §7).
import type {
  OneShotActivities,
  OneShotPlan,
  OneShotRequest,
  OneShotSnapshot,
} from "../../activities/one-shot-signature/index.js";
import type { Signed } from "../../activities/one-shot-signature/signature.js";
import type { SignOneShotInput, SignOneShotResult } from "../../contracts/sign-one-shot.js";
import { ownCall } from "../runtime/activity-options.js";
import { wanted } from "../runtime/attention.js";
import { now, secondsFromNow } from "../runtime/clock.js";
import { ContractDialogue } from "./contract-dialogue.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { AskWait } from "../runtime/tracking.js";
import { IdentityVideo } from "./identity-video.js";
import { OneTimePassword } from "../runtime/one-time-password.js";
import { Flow } from "../runtime/flow.js";
import { oneShotView } from "./view.js";
import { isWaived, stepsOf } from "../runtime/steps.js";
import { awaitOperatorVerdict } from "./operator-verdict.js";

const provider = "one-shot-signature";
const label = "the signature service";

const own = (summary: string, seconds: number) =>
  ownCall<OneShotActivities>(provider, summary, seconds);

export async function signOneShot(input: SignOneShotInput): Promise<SignOneShotResult> {
  const flow = new Flow<OneShotSnapshot, ReturnType<typeof oneShotView>>(oneShotView);
  const step = stepsOf<OneShotActivities>(flow, provider);
  let request: OneShotRequest = { account: "default", requestPk: "" };
  let createdAt: string | undefined;
  let signedAt: string | undefined;
  /** Undefined where a person said that it was signed, and no answer. */
  let state: "signed" | "signing" | undefined;

  const heard = (signed: Signed) => {
    state = signed.state;
    return signed;
  };
  const otp = new OneTimePassword(
    flow,
    {
      provider,
      operation: "sign",
      send: (occurrence, seconds) =>
        own("Send the signer another code", seconds).resendOtp({
          ...request,
          effect: { step: "otp", occurrence },
        }),
      try: async (code, occurrence, seconds) =>
        heard(
          await own("Sign with the code that the signer entered", seconds).sign({
            ...request,
            effect: { step: "sign", occurrence },
            mode: "quick",
            otp: code,
          }),
        ),
      decideOpen: (open) =>
        step(
          { name: "sign", summary: "Watch for the signature", journaled: true, happened: {} },
          async (desk, { effect, mode }) =>
            mode === "probe"
              ? { verdict: "again" }
              : heard(await desk.sign({ ...request, effect, mode, otp: "" })),
          open,
        ),
    },
    // A second signature is no harmless try.
    { stopOnUnknown: true },
  );
  const agreement = new ContractDialogue(flow);
  const video = new IdentityVideo(flow, step, () => request);
  flow.lifecycle.askBeforeCancelling("create");

  /** How the request, or its video, stands; the newest answer is the process's snapshot. */
  const asks = (about: "request" | "video") => ({
    label,
    hintsAtEnd: () => true,
    ask: async (wait: AskWait, summary: string, quick: object) => {
      const snapshot = await step(
        { name: "ask", summary, journaled: false, quick },
        (desk, { mode }) =>
          desk.ask({ ...request, about, wait, mode, seen: flow.log.snapshot?.fingerprint }),
      );
      flow.log.applySnapshot(snapshot, []);
    },
  });

  async function fill({ documents, variant }: OneShotPlan): Promise<void> {
    for (const [index, file] of documents.entries()) {
      await step(
        {
          name: `upload-${index}`,
          summary: `Upload document ${index + 1} of ${documents.length}`,
          journaled: true,
          happened: {},
        },
        (desk, attempt) =>
          desk.upload({ ...attempt, ...request, file, asHash: variant === "hash" }),
      );
      flow.log.note({
        source: "process",
        event: `Uploaded document ${index + 1} of ${documents.length}`,
      });
    }
  }

  /** Until the signer's code was taken: true, or not in time: false, and the outcome stands. */
  async function signWithCode({ settings }: OneShotPlan): Promise<boolean> {
    const sent = await step(
      { name: "otp", summary: "Send the signer a code", journaled: true, happened: {} },
      (desk, attempt) => desk.sendOtp({ ...attempt, ...request }),
    );
    otp.begin(settings, sent);
    const { state: before } = (sent.earlier?.answer ?? {}) as { state?: typeof state };
    state = before;
    return otp.isAccepted();
  }

  /** An asynchronous signature: the webhook makes us ask, the poll asks anyway, and only the answer ends it. */
  async function awaitSignature(
    { settings, canRetrieve }: OneShotPlan,
    since: number,
  ): Promise<void> {
    const seconds = settings.deadlineSeconds;
    const awaits = `${label} to finish`;
    if (!canRetrieve) {
      const end = await awaitOperatorVerdict(flow, { awaits, seconds, since });
      if (end === "failed") flow.status.ownOutcome = end;
      return;
    }
    flow.status.effectExists("tracking", flow.status.references, secondsFromNow(seconds));
    await trackUntilClosed(flow, { ...asks("request"), awaits, spans: settings });
    const shown = flow.log.view.state;
    if (flow.status.ownOutcome === undefined && shown !== "signed")
      flow.status.ownOutcome = shown === "failed" || shown === "cancelled" ? shown : "other";
  }

  async function fetchSigned({ documents: uploaded }: OneShotPlan): Promise<void> {
    const files = uploaded.map(({ name, sha256 }) => ({ name, sha256 }));
    const documents = await step(
      { name: "fetch", summary: "Fetch the signed documents", journaled: false, happened: {} },
      (desk, { mode }) => desk.fetchSigned({ ...request, mode, files }),
    );
    flow.log.addDocuments(documents);
  }

  const main = async () => {
    const plan = await step(
      { name: "prepare", summary: "Check the input", journaled: false },
      (desk, { mode }) => desk.prepare({ input, mode }),
    );
    flow.status.identify(plan);
    const created = await step(
      {
        name: "create",
        summary: "Create the signature request",
        journaled: true,
        happened: { requestPk: wanted.reference },
      },
      (desk, attempt) => desk.create({ ...attempt, input }),
    );
    const { requestPk } = created;
    ({ createdAt } = created);
    request = { account: plan.account, requestPk };
    flow.log.note({ source: "process", event: "Signature request created" });
    flow.status.effectExists("tracking", { requestPk });
    await fill(plan);
    if (plan.identityVideo) {
      const fields = input.identityVideo?.providerFields;
      if (!(await video.identify(plan.identityVideo, fields, plan.settings, asks("video")))) return;
    }
    const contract = await step(
      { name: "contract", summary: "Fetch the contract", journaled: false },
      (desk, { mode }) => desk.contract({ ...request, mode }),
    );
    flow.log.addDocuments([contract]);
    flow.log.note({ source: "process", event: "Contract fetched" });
    if (plan.settings.requireContractAccepted && !(await agreement.isAccepted(plan.settings)))
      return;
    const heardBefore = flow.log.events.length;
    if (!(await signWithCode(plan))) return;
    // That it was begun is all that a person's word proves of an asynchronous one: the provider is asked for the rest.
    const isUntold = state === undefined && plan.variant === "asynchronous";
    if (isUntold) flow.log.hintEnd();
    if (isUntold || state === "signing") await awaitSignature(plan, heardBefore);
    if (flow.status.ownOutcome !== undefined) return;
    signedAt = now().toISOString();
    flow.log.note({ source: "process", event: "Signed" });
    if (plan.canRetrieve) await isWaived(() => fetchSigned(plan));
    flow.status.ownOutcome = "signed";
  };

  return flow.lifecycle.run(main, () => ({
    process: "signOneShot",
    id: flow.status.id,
    outcome: flow.status.ownOutcome as SignOneShotResult["outcome"],
    references: flow.status.references,
    dates: {
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(signedAt === undefined ? {} : { signedAt }),
    },
    documents: [...flow.log.documents.values()],
    timeline: flow.log.timeline,
    otpsSent: otp.sent,
  }));
}
