// The affidavits that are published after the close (P2 §3.1).
import { condition } from "@temporalio/workflow";
import { secondsFromNow, Timer } from "../runtime/clock.js";
import type { AnyFlow } from "../runtime/flow.js";
import { isWaived } from "../runtime/steps.js";
import type { TrackingTarget } from "../runtime/tracking.js";

/** Fetches affidavits as they are announced, and once more when the window ends. */
export async function collectAffidavits(
  flow: AnyFlow,
  { label, spans, ask }: TrackingTarget,
  windowSeconds: number,
): Promise<void> {
  if (windowSeconds === 0) return;
  const window = new Timer(secondsFromNow(windowSeconds), "Time limit for late affidavits");
  flow.status.waitFor("late affidavits", window.end);
  const isOver = () => window.isOver || flow.lifecycle.stopped !== undefined;
  for (let fetched = announced(flow); !isOver(); fetched = announced(flow)) {
    await condition(() => isOver() || announced(flow) > fetched);
    if (isOver()) break;
    await ask("now", `Fetch an announced affidavit from ${label}`, {});
    const pause = new Timer(
      secondsFromNow(spans.askIntervalSeconds),
      `Pause before the next query to ${label}`,
    );
    await condition(() => isOver() || pause.isOver);
  }
  if (flow.lifecycle.stopped) throw flow.lifecycle.stopped;
  await isWaived(() => ask("affidavits", `Fetch the last affidavits from ${label}`, {}));
}

function announced(flow: AnyFlow): number {
  return flow.log.events.filter(({ affidavit }) => affidavit).length;
}
