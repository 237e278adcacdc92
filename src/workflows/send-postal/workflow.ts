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
import { collectAffidavits, follow } from "../runtime/follow.js";
import type { Followed } from "../runtime/follow.js";
import { invalidInput, membersOf } from "../runtime/invalid-input.js";
import { Process } from "../runtime/process.js";
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
  const process = new Process<PostalSnapshot, PostalView>(postalView);
  const step = stepsOf<EviPostActivities>(process, "evi-post");
  let item: PostalSubmitted | undefined;
  let cancelAfterSubmit = false;
  const requests: { requestId: string; before: number }[] = [];

  async function cancelItem(occurrence: string, who: Proven = {}): Promise<CancelAnswer> {
    const note = (answer: string) => process.note(decidedBy(who, `Cancel: ${answer}`));
    if (!item) {
      const answer = await answerTo(() => withdraw({ step: "submit" }));
      if (answer === "withdrawn") {
        note("cancelled");
        process.withdraw();
        return { answer: "cancelled" };
      }
    }
    if (!item) {
      cancelAfterSubmit = true;
      note("pending");
      return { answer: "pending" };
    }
    if (process.view.closed || process.phase === "ended")
      return { answer: process.view.outcome === "cancelled" ? "cancelled" : "tooLate" };
    const { account, uniqueId } = item;
    const effect = { step: "cancel", occurrence };
    const answer = await answerTo(() =>
      own("Cancel at EviPost").cancel({ effect, account, uniqueId }),
    );
    note(answer.answer);
    if (answer.answer === "cancelled") process.claimEnd();
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
    process.note({ source: "process", event: "Cancellation refused", note });
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
    process.note({ source: "process", event: `Affidavit on demand: ${answer.answer}` });
    if (answer.answer === "requested") {
      requests.push({ requestId: answer.requestId, before: process.documents.size });
    }
    return answer;
  }

  process.onDecision(
    cancel,
    "Cancel the communication while it is not dispatched",
    (_, who) => cancelItem(currentUpdateInfo()?.id ?? "0", who),
    refuseUnlessDeciderAlone,
  );
  process.onUpdate(
    requestAffidavit,
    "Request an affidavit on demand",
    askForAffidavit,
    refuseUnlessFlags,
  );
  process.onCancelRequested(() =>
    process.background(() =>
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
    process.identify(item);
    process.note({ source: "process", event: "Submitted" });
    process.track({ uniqueId }, settings.deadlineSeconds);
    if (cancelAfterSubmit) process.background(() => cancelUntilAnswered("after-submit"));

    let missing = 0;
    const followed: Followed = {
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
              seen: process.snapshot?.fingerprint,
              stored: [...process.documents.values()].flatMap(
                (document) => document.uniqueId ?? [],
              ),
              refetch: process.phase === "affidavits",
            }),
        );
        missing = answer.missing;
        process.take(
          snapshot,
          documents,
          excludedMove(process.seenStates, snapshot, postServiceType),
        );
      },
    };
    await follow(process, followed);
    if (process.ownOutcome !== undefined) return;
    process.enter("affidavits");
    await collectAffidavits(process, followed, settings.affidavitWindowSeconds);
    if (missing > 0) {
      process.note({ source: "process", event: `${missing} listed affidavits were not fetched` });
    }
  };

  return process.run(main, () => ({
    process: "sendPostal",
    id: process.id,
    outcome: (process.outcome ?? "other") as PostalOutcome,
    ...providerWord(process),
    references: process.references,
    dates: process.snapshot?.dates ?? {},
    documents: [
      ...(item ? [{ kind: "submitted" as const, document: item.document }] : []),
      ...tieAffidavits([...process.documents.values()], process.events, requests),
    ],
    timeline: process.timeline,
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
function providerWord({ ownOutcome, view, snapshot }: Process<PostalSnapshot, PostalView>) {
  const word = ownOutcome === undefined ? view.providerOutcome : snapshot?.outcome;
  return word === undefined ? {} : { providerOutcome: word };
}
