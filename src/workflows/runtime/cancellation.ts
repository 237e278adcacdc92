// A cancellation that no caller waits for: by Temporal itself, or one that came before there was anything to cancel.
import { sleep } from "@temporalio/workflow";
import { acceptsUnsigned } from "./decisions.js";
import type { AnyFlow } from "./flow.js";

/** Seconds; after that it is too late, or an operator checks it. */
const MAX_WAIT_SECONDS = 21_600;

/** Repeats `cancel` with growing pauses until its answer is clear. */
export async function cancelUntilAnswered(
  cancel: () => Promise<{ answer: string }>,
): Promise<void> {
  for (let wait = 60; ; wait = Math.min(wait * 2, MAX_WAIT_SECONDS)) {
    const { answer } = await cancel();
    if (answer !== "unavailable" && answer !== "unknown") return;
    await sleep(wait * 1_000, { summary: "Pause before the next try to cancel" });
  }
}

/** Temporal's own cancellation has no signature: it counts as `update` only where unsigned decisions are accepted. */
export function onUnsignedCancel(
  { lifecycle, log }: AnyFlow,
  update: string,
  cancel: () => Promise<{ answer: string }>,
): void {
  const cancelOrNote = async () => {
    if (await acceptsUnsigned(update)) return cancelUntilAnswered(cancel);
    log.note(
      "Cancellation refused",
      "it is not signed: an operator must cancel with trustflow cancel",
    );
  };
  lifecycle.onCancelRequested(cancelOrNote);
}
