// The caller rejects the call: one request at a time, while the end of the call is awaited (P1 §4.2).
import { condition } from "@temporalio/workflow";
import type { VideoCall } from "../../activities/video-identification/index.js";
import { rejectCall } from "../../contracts/verify-identity/messages.js";
import type {
  RejectAnswer,
  Rejection as GivenRejection,
} from "../../contracts/verify-identity/messages.js";
import { updateProxy } from "../runtime/activity-options.js";
import { answerTo, refuseUnlessObject } from "../runtime/activity-errors.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import type { AnyFlow } from "../runtime/flow.js";
import { occurrenceOfUpdate } from "../runtime/update-occurrence.js";
import { waitUntilDue } from "../runtime/waits.js";

const { rejectCall: reject } = updateProxy("video-identification", "Reject the call");

/** How long a second rejection waits for the request of the first. */
const answerLimit = "15 seconds";

export class Rejection {
  readonly #flow: AnyFlow;
  readonly #call: () => VideoCall;
  #phase: "before" | "open" | "past" = "before";
  #isRejecting = false;
  isAccepted = false;

  constructor(flow: AnyFlow, call: () => VideoCall) {
    this.#flow = flow;
    this.#call = call;
    flow.lifecycle.onDecision(
      rejectCall,
      "Reject the call",
      ["providerFields"],
      ({ providerFields }, who) => this.#reject(providerFields, who),
      (given) => {
        const { providerFields = {} } = given ?? {};
        refuseUnlessObject("providerFields", providerFields);
      },
    );
  }

  /** `isAccepted`: an earlier run has rejected the call. */
  begin(isAccepted: boolean): void {
    this.#phase = "open";
    this.isAccepted = isAccepted;
  }

  /** Returns once a request that is under way was answered: it may decide the outcome. */
  async end(): Promise<void> {
    this.#phase = "past";
    if (this.#isRejecting) await condition(() => !this.#isRejecting);
  }

  async #reject(
    fields: GivenRejection["providerFields"],
    who: ProvenPerson,
  ): Promise<RejectAnswer> {
    await waitUntilDue(() => this.#phase !== "before");
    if (this.#isRejecting) await condition(() => !this.#isRejecting, answerLimit);
    if (this.#isRejecting) return { answer: "unavailable" };
    if (this.isAccepted) return { answer: "rejected" };
    if (this.#phase === "before") return { answer: "unavailable" };
    if (this.#phase !== "open" || this.#flow.log.view.closed) return { answer: "notAwaited" };
    this.#isRejecting = true;
    const effect = { step: "rejectCall", occurrence: occurrenceOfUpdate() };
    const { answer } = await answerTo(() => reject({ ...this.#call(), effect, fields })).finally(
      () => (this.#isRejecting = false),
    );
    this.#flow.log.add(decidedBy(who, `Rejection of the call: ${answer}`));
    if (answer === "rejected") this.isAccepted = true;
    else this.#flow.log.hintEnd();
    return { answer };
  }
}
