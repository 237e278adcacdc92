// The end of an asynchronous signature at a provider without a query. Its webhook is not a proof, so an operator checks the
// provider's portal and enters the result (docs/reading-the-specification.md §7).
import { condition } from "@temporalio/workflow";
import { plainText } from "../../contracts/shared/text.js";
import type { Decided } from "../runtime/attention.js";
import { secondsFromNow } from "../runtime/clock.js";
import type { AnyFlow } from "../runtime/flow.js";
import { oneShotEnds } from "./view.js";
import { waitUntil } from "../runtime/waits.js";

const state = /^(signed|failed)$/;

/** Limits the attentions: each one adds a few events to the history, so later reports raise no new one. */
const MAX_QUESTIONS = 20;
const MAX_SHOWN = 5;

/**
 * Asks an operator as soon as the webhook has reported something, at the latest after `seconds`. `retry` waits again. `since` is
 * how many events there were before the signer was asked for the code.
 */
export async function awaitOperatorsEnd(
  flow: AnyFlow,
  { awaits, seconds, since }: { awaits: string; seconds: number; since: number },
): Promise<"signed" | "failed"> {
  // The specification does not list the webhook's words (P1 §6.2): each one since the code was asked for may report the end, and
  // one that names an end state reports it at any time.
  const reports = () =>
    flow.log.events.flatMap(({ kind }, index) =>
      index >= since || oneShotEnds.has(kind) ? [kind] : [],
    );
  const news = () => reports().length + flow.log.surplusSignals;
  let answered = 0;
  let questions = 0;
  const hasNews = () => news() > answered;
  for (;;) {
    const end = secondsFromNow(seconds);
    flow.status.effectExists("tracking", flow.status.references, end);
    await waitUntil(flow, hasNews, {
      what: awaits,
      end,
      summary: "Time limit for the signature",
    });
    let decided: Decided | undefined;
    while (!decided) {
      const reported = new Set(reports());
      questions += 1;
      const isLast = questions >= MAX_QUESTIONS;
      const hasMore = () => !isLast && new Set(reports()).size > reported.size;
      decided = await askOperator(flow, reasonOf(reported), hasMore);
    }
    answered = news();
    if (decided.decision === "abandon") throw flow.lifecycle.abandoned("signing", decided);
    if (decided.decision === "happened") return decided.result?.["state"] as "signed" | "failed";
  }
}

/** Returns undefined if the webhook has reported something new meanwhile. */
async function askOperator(
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
  const words = [...reported].slice(0, MAX_SHOWN).map((kind) => `"${plainText(kind, 100)}"`);
  const more = reported.size - words.length;
  const kinds = [...words, ...(more > 0 ? [`${more} more kinds`] : [])].join(" and ");
  const said =
    kinds === ""
      ? "the signature service did not report an end of the signature in time"
      : `the webhook of the signature service reported ${kinds}, which is not a proof`;
  return `${said}, and no query is configured for this service: check in the service whether the signature is signed or failed`;
}
