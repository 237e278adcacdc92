// A certified notice from submit to close, with its attachments and affidavits (P2 §2.6, §2.7, §3.2, §4.2;
// docs/reading-the-specification.md §3). The API cannot cancel a notice, so the process does not offer it.
import { arrivedNow } from "../runtime/event-log.js";
import type { NoticeSubmitted } from "../../activities/evi-notice/index.js";
import { requestNoticeAffidavit } from "../../contracts/send-notice/messages.js";
import type { NoticeAffidavitAnswer } from "../../contracts/send-notice/messages.js";
import type {
  NoticeAffidavitRequest,
  NoticeDates,
  NoticeOutcome,
  SendNoticeInput,
  SendNoticeResult,
} from "../../contracts/send-notice/contract.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { Communication, refuseUnlessFlags } from "../shared/communication.js";
import { downloadAttempt, updateProxy } from "../runtime/activity-options.js";
import { Flow, run } from "../runtime/flow.js";
import { isWaived, queryStep, stepsOf } from "../runtime/steps.js";
import { excludedTransition, noticeView, reportsEnd } from "./view.js";
import type { NoticeSnapshot, NoticeView } from "./view.js";

const provider = "evi-notice";

export async function sendNotice(input: SendNoticeInput): Promise<SendNoticeResult> {
  return run(new SendNotice(input));
}

class SendNotice {
  readonly #input: SendNoticeInput;
  readonly flow = new Flow<NoticeSnapshot, NoticeView>(noticeView, reportsEnd);
  readonly #step = stepsOf(this.flow, provider);
  readonly #notice = new Communication<
    NoticeSubmitted,
    NoticeDates,
    NoticeView,
    NoticeAffidavitRequest,
    NoticeAffidavitAnswer
  >(this.flow, {
    step: this.#step,
    updateCall: (summary) => updateProxy(provider, summary),
    label: "EviNotice",
    reportsEnd,
    // The notice carries both keys, joined (P2 §2.4).
    lookFor: (ownKey) => ({
      lookupKey: [this.#input.lookupKey, ownKey].filter(Boolean).join("::") || undefined,
      recipient: this.#input.recipientAddress,
    }),
    excludedTransition,
    mayRequestAffidavit: ({ affidavitsOnDemand }) => affidavitsOnDemand && this.#isOnItsWay(),
    staysStoppable: true,
  });
  #attachments: ProcessDocument[] = [];

  constructor(input: SendNoticeInput) {
    this.#input = input;
    const { lifecycle } = this.flow;
    lifecycle.onUpdate(
      requestNoticeAffidavit,
      "Request an affidavit on demand",
      (asked) => this.#notice.requestAffidavit(asked),
      (asked) => refuseUnlessFlags(asked, ["includeBody", "includeAttachments", "includeEvents"]),
    );
    lifecycle.askBeforeCancelling("submit");
  }

  main(): Promise<void> {
    return this.#notice.run(this.#input, { closed: (item) => this.#keepAttachments(item) });
  }

  /** A `Draft` or `Closed` notice has no affidavits on demand (P2 §4.2). */
  #isOnItsWay(): boolean {
    const { state } = this.flow.log.view;
    return state !== "Draft" && state !== "Closed";
  }

  async #keepAttachments({ account, uniqueId, attachments }: NoticeSubmitted): Promise<void> {
    if (attachments.length === 0) return;
    const summary = "Fetch the attachments from EviNotice";
    const step = queryStep("attachments", summary, { happened: {}, attempt: downloadAttempt });
    const given = { account, uniqueId, submitted: attachments };
    await isWaived(async () => {
      const { documents, missing } = await this.#step(step, (evi, { mode }) =>
        evi.attachments({ ...given, mode }),
      );
      this.#attachments = documents.map(arrivedNow);
      if (missing.length === 0) return;
      const event = `EviNotice does not have ${missing.length} of ${attachments.length} attachments as submitted`;
      this.flow.log.note(event, missing.join(", "));
    });
  }

  result(): SendNoticeResult {
    const { log, status } = this.flow;
    const submitted = (this.#notice.item?.attachments ?? []).map(
      ({ fileName, document }): ProcessDocument => ({
        kind: "submitted",
        document,
        description: fileName,
      }),
    );
    return {
      ...this.#notice.result([...submitted, ...this.#attachments]),
      process: "sendNotice",
      outcome: (status.outcome ?? "other") as NoticeOutcome,
      dates: log.snapshot?.dates ?? {},
    };
  }
}
