// The end of an asynchronous signature at a provider that cannot be asked: what its webhook reports proves nothing, so a person
// looks there and says what became of it (docs/reading-the-specification.md §7).
import { condition, patched } from "@temporalio/workflow";
import { plainText } from "../../contracts/shared/text.js";
import type { Decided } from "../runtime/attention.js";
import { secondsFromNow } from "../runtime/clock.js";
import type { AnyFlow } from "../runtime/flow.js";
import { oneShotEnds } from "./view.js";
import { until } from "../runtime/waits.js";

const state = /^(signed|failed)$/;

/** Each question costs a few events of the history: beyond so many another word raises no new one. */
const mostQuestions = 20;
/** Of the words that a question shows. */
const mostShown = 5;

/**
 * A person is asked as soon as the webhook has reported something, at the latest when so many seconds are over; `retry` waits
 * on. `since`: how many events there were before the signer was asked for the code.
 */
export async function awaitOperatorVerdict(
  flow: AnyFlow,
  { awaits, seconds, since }: { awaits: string; seconds: number; since: number },
): Promise<"signed" | "failed"> {
  // Its words are not shown (P1 §6.2): whatever came since the code was asked for may be the end, and what names one is it.
  const reports = () =>
    flow.log.events.flatMap(({ kind }, index) =>
      index >= since || oneShotEnds.has(kind) ? [kind] : [],
    );
  const news = () => reports().length + flow.log.surplusSignals;
  let heeded = 0;
  let questions = 0;
  const hasNews = () => news() > heeded;
  for (;;) {
    const end = secondsFromNow(seconds);
    flow.status.effectExists("tracking", flow.status.references, end);
    await until(flow, hasNews, {
      what: awaits,
      end,
      summary: "The signature may come to its end",
    });
    let decided: Decided | undefined;
    while (!decided) {
      const reported = new Set(reports());
      questions += 1;
      const isLast = questions >= mostQuestions && patched("questions-are-bounded");
      const hasMore = () => !isLast && new Set(reports()).size > reported.size;
      decided = await askPerson(flow, reasonOf(reported), hasMore);
    }
    heeded = news();
    if (decided.decision === "abandon") throw flow.lifecycle.abandoned("signing", decided);
    if (decided.decision === "happened") return decided.result?.["state"] as "signed" | "failed";
  }
}

/** Undefined where there is more to tell meanwhile. */
async function askPerson(
  flow: AnyFlow,
  reason: string,
  hasMore: () => boolean,
): Promise<Decided | undefined> {
  const attention = flow.attentions.open({
    step: { name: "signing", journaled: false, happened: { state } },
    kind: "unknownOutcome",
    reason,
  });
  const isOver = () => flow.lifecycle.stopped !== undefined || (hasMore() && !attention.isDeciding);
  try {
    const decided = await Promise.race([attention.decided, condition(isOver)]);
    if (flow.lifecycle.stopped) throw flow.lifecycle.stopped;
    return decided ?? undefined;
  } finally {
    flow.attentions.close(attention);
  }
}

function reasonOf(reported: Set<string>): string {
  const words = [...reported].slice(0, mostShown).map((kind) => `"${plainText(kind, 100)}"`);
  const more = reported.size - words.length;
  const kinds = [...words, ...(more > 0 ? [`${more} more words`] : [])].join(" and ");
  const said =
    kinds === ""
      ? "the signature service has reported no end of the signature in time"
      : `the webhook of the signature service reported ${kinds}, which alone proves nothing`;
  return `${said}, and no call is configured by which it could be asked: look there whether the signature is signed or failed`;
}
