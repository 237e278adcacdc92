// Shows a certified notice (P2 §2.7, §3.2, §3.4). `Failed` as a state is recoverable; only `Closed` is the end.
import {
  noticeEndStates,
  noticeOutcomes,
  noticeStates,
} from "../../contracts/send-notice/states.js";
import type { NoticeDates } from "../../contracts/send-notice/contract.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { viewOf } from "../shared/evi-view.js";
import type { EviSnapshot } from "../../activities/evi/ask.js";
import type { EviView } from "../shared/evi-view.js";

export type NoticeSnapshot = EviSnapshot<NoticeDates>;

export type NoticeView = EviView<(typeof noticeOutcomes)[number]>;

export const noticeView = viewOf<NoticeSnapshot, (typeof noticeOutcomes)[number]>({
  states: noticeStates,
  outcomes: noticeOutcomes,
  restingStates: new Set(),
});

/** A callback that reports the end; the answer to a query confirms it. */
export function reportsEnd({ kind }: ProviderEvent): boolean {
  return noticeEndStates.has(kind);
}

/** Names a transition that P2 §3.2 and §3.4 exclude; the process follows it anyway. */
export function excludedTransition(
  seen: readonly string[],
  next: Pick<NoticeSnapshot, "state">,
): string | undefined {
  if (next.state === "Refused") return "Refused is an outcome, never a state (P2 §3.4)";
  if (seen.includes("Closed") && next.state !== "Closed") return "Closed is the end (P2 §6.2)";
  return undefined;
}
