// A certified postal communication from submit to close, with its affidavits (P2 §2.1–2.5, §3.1, §4.1;
// docs/reading-the-specification.md §2).
import { currentUpdateInfo, patched, proxyActivities, sleep } from "@temporalio/workflow";
import type { EviPostActivities, PostalSubmitted } from "../../activities/evi-post/index.js";
import type { ProcessActivities } from "../../activities/runtime/process.js";
import { cancel, requestAffidavit } from "../../contracts/shared/messages.js";
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/shared/messages.js";
import type {
  PostalAffidavitRequest,
  PostalOutcome,
  SendPostalInput,
  SendPostalResult,
} from "../../contracts/send-postal.js";
import { activitiesOf, answerOptions } from "../runtime/activity-options.js";
import { wanted } from "../runtime/attention.js";
import { answerTo } from "../runtime/answers.js";
import { tieAffidavits } from "./affidavits.js";
import {
  decidedBy,
  isChecked,
  isTakenUnsigned,
  refuseUnlessDeciderAlone,
} from "../runtime/decisions.js";
import type { Proven } from "../runtime/decisions.js";
import { collectAffidavits, trackUntilClosed } from "../runtime/tracking.js";
import type { TrackingTarget } from "../runtime/tracking.js";
import { invalidInput, membersOf } from "../runtime/invalid-input.js";
import { Flow } from "../runtime/flow.js";
import { excludedMove, postalView } from "./view.js";
import type { PostalSnapshot, PostalView } from "./view.js";
import { stepsOf } from "../runtime/steps.js";
import { whenDue } from "../runtime/waits.js";

const { withdraw } = proxyActivities<ProcessActivities>({
  ...answerOptions,
  summary: "Withdraw before it is sent",
});
/** Seconds; by then it is dispatched, or its owner looks at it. */
const longestCancelWait = 21_600;

const own = (summary: string) =>
  activitiesOf<EviPostActivities>("evi-post", { ...answerOptions, summary });

export async function sendPostal(input: SendPostalInput): Promise<SendPostalResult> {
  const flow = new Flow<PostalSnapshot, PostalView>(postalView);
  const step = stepsOf<EviPostActivities>(flow, "evi-post");
  let item: PostalSubmitted | undefined;
  let cancelAfterSubmit = false;
  const requests: { requestId: string; before: number }[] = [];

  async function cancelItem(occurrence: string, who: Proven = {}): Promise<CancelAnswer> {
    const note = (answer: string) => flow.log.note(decidedBy(who, `Cancel: ${answer}`));
    if (!item) {
      const answer = await answerTo(() => withdraw({ step: "submit" }));
      if (answer === "withdrawn") {
        note("cancelled");
        flow.lifecycle.withdraw();
        return { answer: "cancelled" };
      }
    }
    if (!item) {
      cancelAfterSubmit = true;
      note("pending");
      return { answer: "pending" };
    }
    if (flow.log.view.closed || flow.status.phase === "ended")
      return { answer: flow.log.view.outcome === "cancelled" ? "cancelled" : "tooLate" };
    const { account, uniqueId } = item;
    const effect = { step: "cancel", occurrence };
    const answer = await answerTo(() =>
      own("Cancel at EviPost").cancel({ effect, account, uniqueId }),
    );
    note(answer.answer);
    if (answer.answer === "cancelled") flow.log.hintEnd();
    return answer;
  }

  /** For a cancellation that nobody waits for: it is tried until the answer is clear, at growing distances. */
  async function cancelUntilAnswered(occurrence: string): Promise<void> {
    for (let wait = 60; ; wait = Math.min(wait * 2, longestCancelWait)) {
      const { answer } = await cancelItem(occurrence);
      if (answer !== "unavailable" && answer !== "unknown") return;
      await sleep(wait * 1_000, { summary: "Then try to cancel again" });
    }
  }

  /** Temporal's own cancellation has no signature. */
  async function cancelUnsigned(): Promise<void> {
    if (await isTakenUnsigned(cancel.name)) return cancelUntilAnswered("workflow-cancellation");
    const note = "it is not signed: an operator cancels with trustflow cancel";
    flow.log.note({ source: "process", event: "Cancellation refused", note });
  }

  async function askForAffidavit(asked: PostalAffidavitRequest): Promise<AffidavitAnswer> {
    if (!item && patched("affidavit-when-due")) await whenDue(() => item !== undefined);
    if (!item?.affidavitsOnDemand) return { answer: "notEligible" };
    const { account, uniqueId } = item;
    const effect = { step: "requestAffidavit", occurrence: currentUpdateInfo()?.id ?? "0" };
    const answer = await answerTo(() =>
      own("Request an affidavit from EviPost").requestAffidavit({
        effect,
        account,
        uniqueId,
        asked,
      }),
    );
    flow.log.note({ source: "process", event: `Affidavit on demand: ${answer.answer}` });
    if (answer.answer === "requested") {
      requests.push({ requestId: answer.requestId, before: flow.log.documents.size });
    }
    return answer;
  }

  flow.lifecycle.onDecision(
    cancel,
    "Cancel the communication while it is not dispatched",
    (_, who) => cancelItem(currentUpdateInfo()?.id ?? "0", who),
    refuseUnlessDeciderAlone,
  );
  flow.lifecycle.onUpdate(
    requestAffidavit,
    "Request an affidavit on demand",
    askForAffidavit,
    refuseUnlessFlags,
  );
  flow.lifecycle.onCancelRequested(() =>
    flow.lifecycle.background(() =>
      isChecked() ? cancelUnsigned() : cancelUntilAnswered("workflow-cancellation"),
    ),
  );

  const main = async () => {
    item = await step(
      {
        name: "submit",
        summary: "Submit to EviPost",
        journaled: true,
        happened: { uniqueId: wanted.reference },
      },
      (evi, attempt) => evi.submit({ ...attempt, input }),
    );
    const { account, uniqueId, settings, submittedAt, postServiceType } = item;
    flow.status.identify(item);
    flow.log.note({ source: "process", event: "Submitted" });
    flow.lifecycle.beginTracking({ uniqueId }, settings.deadlineSeconds);
    if (cancelAfterSubmit) flow.lifecycle.background(() => cancelUntilAnswered("after-submit"));

    let missing = 0;
    const followed: TrackingTarget = {
      label: "EviPost",
      spans: settings,
      ask: async (wait, summary, quick) => {
        const { snapshot, documents, ...answer } = await step(
          {
            name: wait === "affidavits" ? "affidavits" : "ask",
            summary,
            journaled: false,
            quick,
            ...(wait === "affidavits" ? { happened: {} } : {}),
          },
          (evi, { mode }) =>
            evi.ask({
              account,
              uniqueId,
              submittedAt,
              wait,
              mode,
              seen: flow.log.snapshot?.fingerprint,
              stored: [...flow.log.documents.values()].flatMap(
                (document) => document.uniqueId ?? [],
              ),
              refetch: flow.status.phase === "affidavits",
            }),
        );
        missing = answer.missing;
        flow.log.applySnapshot(
          snapshot,
          documents,
          excludedMove(flow.log.seenStates, snapshot, postServiceType),
        );
      },
    };
    await trackUntilClosed(flow, followed);
    if (flow.status.ownOutcome !== undefined) return;
    flow.status.enter("affidavits");
    await collectAffidavits(flow, followed, settings.affidavitWindowSeconds);
    if (missing > 0) {
      flow.log.note({ source: "process", event: `${missing} listed affidavits were not fetched` });
    }
  };

  return flow.lifecycle.run(main, () => ({
    process: "sendPostal",
    id: flow.status.id,
    outcome: (flow.status.outcome ?? "other") as PostalOutcome,
    ...providerWord(flow),
    references: flow.status.references,
    dates: flow.log.snapshot?.dates ?? {},
    documents: [
      ...(item ? [{ kind: "submitted" as const, document: item.document }] : []),
      ...tieAffidavits([...flow.log.documents.values()], flow.log.events, requests),
    ],
    timeline: flow.log.timeline,
  }));
}

function refuseUnlessFlags(asked: PostalAffidavitRequest): void {
  for (const [path, flag] of Object.entries(membersOf(asked))) {
    const known = path === "includeDocument" || path === "includeEvents";
    if (known && typeof flag === "boolean") continue;
    throw invalidInput(path, known ? "must be true or false" : "is not known");
  }
}

/** The provider's own word, where the outcome is `other` or ours. */
function providerWord({ log, status }: Flow<PostalSnapshot, PostalView>) {
  const { view, snapshot } = log;
  const word = status.ownOutcome === undefined ? view.providerOutcome : snapshot?.outcome;
  return word === undefined ? {} : { providerOutcome: word };
}
