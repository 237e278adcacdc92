// Creates and fills the identity video of a signature request, which is then approved or cancelled, by the caller or at the provider (P1
// §1.4).
import { condition } from "@temporalio/workflow";
import type {
  OneShotActivities,
  OneShotPlan,
  OneShotRequest,
} from "../../activities/one-shot-signature/index.js";
import { decideVideo, updateVideo } from "../../contracts/sign-one-shot/messages.js";
import type {
  VideoAnswer,
  VideoUpdate,
  VideoUpdateAnswer,
} from "../../contracts/sign-one-shot/messages.js";
import { updateProxy } from "../runtime/activity-options.js";
import { answerTo, invalidInput, refuseUnlessObject } from "../runtime/activity-errors.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { TrackingSpans, TrackingTarget } from "../runtime/tracking.js";
import type { AnyFlow } from "../runtime/flow.js";
import { effectStep } from "../runtime/steps.js";
import type { Steps } from "../runtime/steps.js";
import { occurrenceOfUpdate } from "../runtime/update-occurrence.js";

const provider = "one-shot-signature";
const { decideVideo: decide } = updateProxy(provider, "Decide on the identity video");
const { updateVideo: update } = updateProxy(provider, "Update the identity video");

/** How long a decision or an update waits for the call of another one. */
const answerLimit = "15 seconds";

export class IdentityVideo {
  readonly #flow: AnyFlow;
  readonly #step: Steps<OneShotActivities>;
  readonly #request: () => OneShotRequest;
  #isAwaited = false;
  #calling: "decision" | "update" | undefined;
  #decided: "approved" | "cancelled" | undefined;

  constructor(flow: AnyFlow, step: Steps<OneShotActivities>, request: () => OneShotRequest) {
    this.#flow = flow;
    this.#step = step;
    this.#request = request;
    flow.lifecycle.onDecision(
      decideVideo,
      "Approve or cancel the identity video",
      ["decision"],
      ({ decision }, who) => this.#decide(decision, who),
      (given) => {
        const { decision } = (given ?? {}) as { decision?: unknown };
        if (decision !== "approve" && decision !== "cancel")
          throw invalidInput("decision", "must be approve or cancel");
      },
    );
    flow.lifecycle.onDecision(
      updateVideo,
      "Update the identity video",
      ["providerFields"],
      ({ providerFields }, who) => this.#update(providerFields, who),
      (given) => refuseUnlessObject("providerFields", given?.providerFields),
    );
  }

  /** Returns false if the video was cancelled or no decision came in time; then the outcome is set. */
  async identify(
    { evidences, video }: NonNullable<OneShotPlan["identityVideo"]>,
    fields: unknown,
    spans: TrackingSpans,
    asking: Omit<TrackingTarget, "spans">,
  ): Promise<boolean> {
    await this.#step(effectStep("createVideo", "Create the identity video"), (service, call) =>
      service.createVideo({ ...call, ...this.#request(), fields }),
    );
    await this.#step(effectStep("uploadEvidences", "Upload the evidences"), (service, call) =>
      service.uploadEvidences({ ...call, ...this.#request(), files: evidences }),
    );
    await this.#step(effectStep("uploadVideo", "Upload the video"), (service, call) =>
      service.uploadVideo({ ...call, ...this.#request(), file: video }),
    );
    this.#flow.log.note("Identity video uploaded");
    this.#isAwaited = true;
    await trackUntilClosed(this.#flow, {
      ...asking,
      awaits: "a decision on the identity video",
      spans,
      isOver: () => this.#state() !== undefined,
    });
    // What the provider answers to a decision counts more than what a query shows meanwhile.
    await condition(() => this.#calling === undefined);
    this.#isAwaited = false;
    const state = this.#state();
    if (state !== undefined)
      this.#flow.status.ownOutcome = state === "cancelled" ? "cancelled" : undefined;
    return state === "approved";
  }

  /** The decision that was made here or that the provider shows. */
  #state(): "approved" | "cancelled" | undefined {
    const { state } = this.#flow.log.view;
    return this.#decided ?? (state === "approved" || state === "cancelled" ? state : undefined);
  }

  /** One decision at a time: a second decision waits for the first, and its answer is the result of the first. */
  async #decide(decision: "approve" | "cancel", who: ProvenPerson): Promise<VideoAnswer> {
    const isUpdating = () => this.#calling === "update";
    if (isUpdating()) await condition(() => !isUpdating(), answerLimit);
    if (isUpdating()) return { answer: "unavailable" };
    if (!this.#isAwaited) return { answer: "notAwaited" };
    const isDeciding = () => this.#calling === "decision";
    if (isDeciding()) {
      await condition(() => !isDeciding(), answerLimit);
      return this.#known(decision) ?? { answer: "unavailable" };
    }
    this.#calling = "decision";
    const effect = { step: decision, occurrence: occurrenceOfUpdate() };
    const { answer } = await answerTo(() => decide({ ...this.#request(), effect, decision }));
    this.#calling = undefined;
    this.#flow.log.add(decidedBy(who, `Identity video: ${answer}`));
    if (answer === "approved" || answer === "cancelled") this.#decided = answer;
    else this.#flow.log.hintEnd();
    return this.#known(decision) ?? { answer };
  }

  /** One call at a time: an update that is overtaken by a decision would change a video that is decided. */
  async #update(
    fields: VideoUpdate["providerFields"],
    who: ProvenPerson,
  ): Promise<VideoUpdateAnswer> {
    const isBusy = () => this.#calling !== undefined;
    if (isBusy()) await condition(() => !isBusy(), answerLimit);
    if (isBusy()) return { answer: "unavailable" };
    if (!this.#isAwaited || this.#state() !== undefined) return { answer: "notAwaited" };
    this.#calling = "update";
    const effect = { step: "updateVideo", occurrence: occurrenceOfUpdate() };
    const { answer } = await answerTo(() => update({ ...this.#request(), effect, fields }));
    this.#calling = undefined;
    this.#flow.log.add(decidedBy(who, `Update of the identity video: ${answer}`));
    return { answer };
  }

  /** The answer to a decision on a video that has already ended. */
  #known(decision: "approve" | "cancel"): VideoAnswer | undefined {
    const state = this.#state();
    if (state === undefined) return undefined;
    return {
      answer: state === (decision === "approve" ? "approved" : "cancelled") ? state : "notAwaited",
    };
  }
}
