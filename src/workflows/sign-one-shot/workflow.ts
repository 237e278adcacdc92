// A one-shot signature request: created, filled, identified by video where it wants that, confirmed, signed with the signer's
// code, and fetched (P1 §1.4, 2.9, 4.4, 6.2; docs/reading-the-specification.md §7).
import type {
  OneShotPlan,
  OneShotRequest,
  OneShotSnapshot,
} from "../../activities/one-shot-signature/index.js";
import type { FirstCode } from "../../activities/runtime/one-time-password.js";
import type { CreatedRequest } from "../../activities/one-shot-signature/request.js";
import type { Signed } from "../../activities/one-shot-signature/signature.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import type {
  SignOneShotInput,
  SignOneShotResult,
} from "../../contracts/sign-one-shot/contract.js";
import { downloadAttempt, updateProxy } from "../runtime/activity-options.js";
import { wanted } from "../runtime/attention.js";
import { now, secondsFromNow } from "../runtime/clock.js";
import { ContractDialogue } from "./contract-dialogue.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { TrackingTarget } from "../runtime/tracking.js";
import { IdentityVideo } from "./identity-video.js";
import { OneTimePassword } from "../shared/one-time-password.js";
import type { OtpCalls } from "../shared/one-time-password.js";
import { Flow, run } from "../runtime/flow.js";
import { oneShotView, reportsEnd } from "./view.js";
import { effectStep, isWaived, queryStep, stepsOf } from "../runtime/steps.js";
import { awaitOperatorsEnd } from "./operator-end.js";

const provider = "one-shot-signature";
const label = "the signature service";

export async function signOneShot(input: SignOneShotInput): Promise<SignOneShotResult> {
  return run(new SignOneShot(input));
}

class SignOneShot {
  readonly #input: SignOneShotInput;
  readonly flow = new Flow<OneShotSnapshot, ReturnType<typeof oneShotView>>(
    oneShotView,
    reportsEnd,
  );
  readonly #step = stepsOf(this.flow, provider);
  readonly #otp: OneTimePassword;
  readonly #contract: ContractDialogue;
  readonly #video: IdentityVideo;
  #submitted: ProcessDocument[] = [];
  #request: OneShotRequest = { account: "default", requestPk: "" };
  #createdAt: string | undefined;
  #signedAt: string | undefined;
  #areDocumentsDeleted = false;
  /** The state in the answer to the code; undefined if an operator entered the signature without an answer. */
  #state: Signed["state"];

  constructor(input: SignOneShotInput) {
    this.#input = input;
    // Repeating a signature is unsafe.
    this.#otp = new OneTimePassword(this.flow, this.#codeCalls(), { stopOnUnknown: true });
    this.#contract = new ContractDialogue(this.flow);
    this.#video = new IdentityVideo(this.flow, this.#step, () => this.#request);
    this.flow.lifecycle.askBeforeCancelling("create");
  }

  async main(): Promise<void> {
    const { log, status } = this.flow;
    const plan = await this.#prepare();
    status.identify(plan);
    this.#submitted = plan.documents.flatMap(({ name, document }) =>
      document ? [{ kind: "submitted", document, description: name }] : [],
    );
    this.#created(plan, await this.#create());
    await this.#upload(plan);
    if (plan.identityVideo && !(await this.#identify(plan, plan.identityVideo))) return;
    this.#contractFetched(await this.#fetchContract());
    if (plan.settings.requireContractAccepted && !(await this.#contract.isAccepted(plan.settings)))
      return;
    const eventsBefore = log.events.length;
    this.#codeSent(plan, await this.#sendCode());
    if (!(await this.#otp.isAccepted())) return;
    if (this.#mayBeUnfinished(plan)) await this.#awaitSignature(plan, eventsBefore);
    if (status.ownOutcome !== undefined) return;
    this.#signedAt = now().toISOString();
    log.note("Signed");
    if (plan.canRetrieve) await isWaived(() => this.#keepSigned(plan));
    status.ownOutcome = "signed";
  }

  #prepare(): Promise<OneShotPlan> {
    return this.#step(queryStep("prepare", "Check the input"), (service, { mode }) =>
      service.prepare({ input: this.#input, mode }),
    );
  }

  #create(): Promise<CreatedRequest> {
    const step = effectStep("create", "Create the signature request", {
      happened: { requestPk: wanted.reference },
    });
    return this.#step(step, (service, call) => service.create({ ...call, input: this.#input }));
  }

  #created({ account }: OneShotPlan, { requestPk, createdAt }: CreatedRequest): void {
    const { log, status } = this.flow;
    this.#createdAt = createdAt;
    this.#request = { account, requestPk };
    log.note("Signature request created");
    status.effectExists("tracking", { requestPk });
  }

  async #upload({ documents, variant }: OneShotPlan): Promise<void> {
    for (const [index, file] of documents.entries()) {
      const which = `document ${index + 1} of ${documents.length}`;
      await this.#step(effectStep(`upload-${index}`, `Upload ${which}`), (service, call) =>
        service.upload({ ...call, ...this.#request, file, asHash: variant === "hash" }),
      );
      this.flow.log.note(`Uploaded ${which}`);
    }
  }

  #identify(
    { settings }: OneShotPlan,
    video: NonNullable<OneShotPlan["identityVideo"]>,
  ): Promise<boolean> {
    const fields = this.#input.identityVideo?.providerFields;
    return this.#video.identify(video, fields, settings, this.#asking("video"));
  }

  #fetchContract(): Promise<ProcessDocument> {
    return this.#step(
      queryStep("contract", "Fetch the contract", { attempt: downloadAttempt }),
      (service, { mode }) => service.contract({ ...this.#request, mode }),
    );
  }

  #contractFetched(contract: ProcessDocument): void {
    const { log } = this.flow;
    log.addDocuments([contract]);
    log.note("Contract fetched");
  }

  #sendCode(): Promise<FirstCode> {
    return this.#step(effectStep("otp", "Send the signer a code"), (service, call) =>
      service.sendOtp({ ...call, ...this.#request }),
    );
  }

  #codeSent({ settings }: OneShotPlan, sent: FirstCode): void {
    this.#otp.begin(settings, sent);
    const { state } = (sent.earlier?.answer ?? {}) as Pick<Signed, "state">;
    this.#state = state;
  }

  /** Whether the signature is asynchronous and may not have ended. */
  #mayBeUnfinished({ variant }: OneShotPlan): boolean {
    // An operator's decision proves only that an asynchronous signature was begun; the provider is queried for its end.
    const isUntold = this.#state === undefined && variant === "asynchronous";
    if (isUntold) this.flow.log.hintEnd();
    return isUntold || this.#state === "signing";
  }

  /**
   * Callbacks and the poll trigger queries, and only an answer ends the process. For a provider without a query, an operator
   * decides.
   */
  async #awaitSignature({ settings, canRetrieve }: OneShotPlan, since: number): Promise<void> {
    const { log, status } = this.flow;
    const seconds = settings.deadlineSeconds;
    const awaits = `${label} to finish`;
    if (!canRetrieve) {
      const end = await awaitOperatorsEnd(this.flow, { awaits, seconds, since });
      if (end === "failed") status.ownOutcome = end;
      return;
    }
    status.effectExists("tracking", status.references, secondsFromNow(seconds));
    await trackUntilClosed(this.flow, { ...this.#asking("request"), awaits, spans: settings });
    const { state } = log.view;
    if (status.ownOutcome === undefined && state !== "signed")
      status.ownOutcome = state === "failed" || state === "cancelled" ? state : "other";
  }

  async #keepSigned(plan: OneShotPlan): Promise<void> {
    this.flow.status.waitFor("the signed documents");
    const signed = await this.#fetchSigned(plan);
    this.flow.log.addDocuments(signed);
    if (this.#input.deleteDocuments) await this.#deleteDocuments(signed);
  }

  #fetchSigned({ documents: uploaded }: OneShotPlan): Promise<ProcessDocument[]> {
    const files = uploaded.map(({ name, sha256 }) => ({ name, sha256 }));
    return this.#step(
      queryStep("fetch", "Fetch the signed documents", { happened: {}, attempt: downloadAttempt }),
      (service, { mode }) => service.fetchSigned({ ...this.#request, mode, files }),
    );
  }

  async #deleteDocuments(kept: ProcessDocument[]): Promise<void> {
    const signed = kept.map(({ document }) => document);
    const summary = "Delete the documents at the provider";
    await this.#step(effectStep("deleteDocuments", summary), (service, call) =>
      service.deleteDocuments({ ...call, ...this.#request, signed }),
    );
    this.#areDocumentsDeleted = true;
    this.flow.log.note("Documents deleted at the provider");
  }

  result(): SignOneShotResult {
    const result = this.flow.result("signOneShot");
    return {
      ...result,
      documents: [...this.#submitted, ...result.documents],
      outcome: this.flow.status.ownOutcome as SignOneShotResult["outcome"],
      dates: { createdAt: this.#createdAt, signedAt: this.#signedAt },
      otpsSent: this.#otp.sent,
      ...(this.#input.deleteDocuments && { documentsDeleted: this.#areDocumentsDeleted }),
    };
  }

  #asking(about: "request" | "video"): Omit<TrackingTarget, "spans"> {
    return {
      label,
      hintsAtEnd: () => true,
      ask: async (wait, summary, quick) => {
        const { log } = this.flow;
        const snapshot = await this.#step(
          queryStep("ask", summary, { quick }),
          (service, { mode }) =>
            service.ask({ ...this.#request, about, wait, mode, seen: log.snapshot?.fingerprint }),
        );
        log.applySnapshot(snapshot, []);
      },
    };
  }

  #codeCalls(): OtpCalls {
    const keepState = (signed: Signed) => {
      this.#state = signed.state;
      return signed;
    };
    return {
      provider,
      operation: "sign",
      send: (occurrence, seconds) =>
        updateProxy(provider, "Send the signer another code", seconds).resendOtp({
          ...this.#request,
          effect: { step: "otp", occurrence },
        }),
      try: async (otp, occurrence, seconds) =>
        keepState(
          await updateProxy(provider, "Sign with the code that the signer entered", seconds).sign({
            ...this.#request,
            effect: { step: "sign", occurrence },
            mode: "quick",
            otp,
          }),
        ),
      decideOpen: (open) =>
        this.#step(
          effectStep("sign", "Wait for the signature"),
          async (service, { effect, mode }) =>
            mode === "probe"
              ? { verdict: "again" }
              : keepState(await service.sign({ ...this.#request, effect, mode, otp: "" })),
          open,
        ),
    };
  }
}
