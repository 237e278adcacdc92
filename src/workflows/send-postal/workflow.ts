// A certified postal communication from submit to close, with its affidavits (P2 §2.1–2.5, §3.1, §4.1;
// docs/reading-the-specification.md §2).
import type { PostalSubmitted } from "../../activities/evi-post/index.js";
import { cancel, requestAffidavit } from "../../contracts/send-postal/messages.js";
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import type {
  PostalAffidavitRequest,
  PostalDates,
  PostalOutcome,
  SendPostalInput,
  SendPostalResult,
} from "../../contracts/send-postal/contract.js";
import { Communication, refuseUnlessFlags } from "../shared/communication.js";
import { databaseProxy, updateProxy } from "../runtime/activity-options.js";
import { answerTo } from "../runtime/activity-errors.js";
import { cancelUntilAnswered, onUnsignedCancel } from "../runtime/cancellation.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import { Flow, run } from "../runtime/flow.js";
import { stepsOf } from "../runtime/steps.js";
import { occurrenceOfUpdate, ownOccurrences } from "../runtime/update-occurrence.js";
import { excludedTransition, postalView, reportsEnd } from "./view.js";
import type { PostalSnapshot, PostalView } from "./view.js";

const { withdraw } = databaseProxy("Withdraw before it is sent");

const updateCall = (summary: string) => updateProxy("evi-post", summary);

export async function sendPostal(input: SendPostalInput): Promise<SendPostalResult> {
  return run(new SendPostal(input));
}

class SendPostal {
  readonly #input: SendPostalInput;
  readonly flow = new Flow<PostalSnapshot, PostalView>(postalView, reportsEnd);
  readonly #letter = new Communication<
    PostalSubmitted,
    PostalDates,
    PostalView,
    PostalAffidavitRequest,
    AffidavitAnswer
  >(this.flow, {
    step: stepsOf(this.flow, "evi-post"),
    updateCall,
    label: "EviPost",
    reportsEnd,
    lookFor: (ownKey) => {
      const { lookupKey, recipientName, recipientLegalName, recipientAddress } = this.#input;
      const { streetAddress, locality } = recipientAddress;
      return {
        lookupKey,
        "custom field Trustflow": ownKey,
        recipient: recipientName ?? recipientLegalName ?? `${streetAddress}, ${locality}`,
      };
    },
    excludedTransition: (seen, next, { postServiceType }) =>
      excludedTransition(seen, next, postServiceType),
    mayRequestAffidavit: ({ affidavitsOnDemand }) => affidavitsOnDemand,
  });
  #cancelAfterSubmit = false;

  constructor(input: SendPostalInput) {
    this.#input = input;
    const { lifecycle } = this.flow;
    lifecycle.onDecision(cancel, "Cancel the communication before it is dispatched", [], (_, who) =>
      this.#cancel(occurrenceOfUpdate(), who),
    );
    lifecycle.onUpdate(
      requestAffidavit,
      "Request an affidavit on demand",
      (asked) => this.#letter.requestAffidavit(asked),
      (asked) => refuseUnlessFlags(asked, ["includeDocument", "includeEvents"]),
    );
    onUnsignedCancel(this.flow, cancel.name, () =>
      this.#cancel(ownOccurrences.workflowCancellation),
    );
  }

  main(): Promise<void> {
    const submitted = () => {
      if (this.#cancelAfterSubmit)
        this.flow.lifecycle.background(() =>
          cancelUntilAnswered(() => this.#cancel(ownOccurrences.afterSubmit)),
        );
    };
    return this.#letter.run(this.#input, { submitted });
  }

  result(): SendPostalResult {
    const { log, status } = this.flow;
    const { item } = this.#letter;
    return {
      ...this.#letter.result(item ? [{ kind: "submitted", document: item.document }] : []),
      process: "sendPostal",
      outcome: (status.outcome ?? "other") as PostalOutcome,
      dates: log.snapshot?.dates ?? {},
    };
  }

  async #cancel(occurrence: string, who: ProvenPerson = {}): Promise<CancelAnswer> {
    const { log, lifecycle } = this.flow;
    const note = (answer: string) => log.add(decidedBy(who, `Cancel: ${answer}`));
    if (!this.#letter.item) {
      const answer = await answerTo(() => withdraw({ step: "submit" }));
      if (answer === "withdrawn") {
        note("cancelled");
        lifecycle.withdraw();
        return { answer: "cancelled" };
      }
    }
    // The letter may have been submitted in the meantime.
    const { item } = this.#letter;
    if (!item) {
      this.#cancelAfterSubmit = true;
      note("pending");
      return { answer: "pending" };
    }
    if (log.view.closed)
      return { answer: log.view.outcome === "cancelled" ? "cancelled" : "tooLate" };
    const { account, uniqueId } = item;
    const effect = { step: "cancel", occurrence };
    const answer = await answerTo(() =>
      updateCall("Cancel at EviPost").cancel({ effect, account, uniqueId }),
    );
    note(answer.answer);
    if (answer.answer === "cancelled") log.hintEnd();
    return answer;
  }
}
