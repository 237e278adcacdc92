// How far a batch of notices is, in one line: a bar with rate and time left while the provider makes the notices, and how many of them
// are in which state.
import type { BatchProgress, SendNoticeBatchStatus } from "./contract.js";
import { noticeOutcomes, noticeStates } from "../send-notice/states.js";
import type { ProcessStatus } from "../shared/status.js";
import { bar, count } from "../shared/text.js";

/** The rate is that of this time. */
const RATE_MS = 60_000;

interface Sample {
  atMs: number;
  done: number;
}

/** The members that the status of a batch alone has. */
export function batchOf(status: ProcessStatus): SendNoticeBatchStatus {
  return status;
}

/** Remembers what it was shown, for the rate. */
export class BatchProgressLine {
  #samples: Sample[] = [];

  /** Undefined for a process without recipients, and before the provider has any of them. */
  lineOf(status: ProcessStatus): string | undefined {
    const { list, progress, totals } = batchOf(status);
    if (status.phase === "ended" || list === undefined) return undefined;
    const share = progress && shareOf(progress, list.recipients, status.state);
    const line = totals && totalsLine(totals.states, list.recipients);
    if (!progress || share === undefined) return line;
    const made = this.#madeLine(progress, share, list.recipients);
    if (!line) return made;
    return share < 1 ? `${made}; ${line}` : line;
  }

  #madeLine(progress: BatchProgress, share: number, recipients: number): string {
    const { at, sentCount = 0, failedCount = 0 } = progress;
    const done = sentCount + failedCount;
    const failed = failedCount > 0 ? `, ${count(failedCount)} failed` : "";
    if (share === 1) return `${count(done)} of ${count(recipients)} made${failed}`;
    const perSecond = this.#rate({ atMs: Date.parse(at), done });
    const left = (recipients - done) / perSecond;
    const pace = perSecond > 0 ? `, ${count(Math.round(perSecond))}/s, ${clock(left)} left` : "";
    return `${bar(share)} ${count(done)} of ${count(recipients)}${failed}${pace}`;
  }

  #rate(newest: Sample): number {
    const before = this.#samples.at(-1);
    if (before?.atMs !== newest.atMs) this.#samples.push(newest);
    const oldest = this.#samples.find(({ atMs }) => atMs >= newest.atMs - RATE_MS) ?? newest;
    this.#samples = this.#samples.slice(this.#samples.indexOf(oldest));
    const first = oldest === newest ? (before ?? newest) : oldest;
    const seconds = (newest.atMs - first.atMs) / 1_000;
    return seconds > 0 ? (newest.done - first.done) / seconds : 0;
  }
}

/** A word that is not here comes last. */
const order = [...noticeStates.map((state) => state.toLowerCase()), ...noticeOutcomes];

/**
 * From 0 to 1, and 1 only once all notices are made; undefined if the provider does not say how many are. A provider that makes none for
 * some recipients ends below their number, so the state `Processed` counts too. Its 100 % alone may be rounded.
 */
function shareOf(
  progress: BatchProgress,
  recipients: number,
  state: string | undefined,
): number | undefined {
  const { sentCount, failedCount, progressPercentage } = progress;
  const counts = [sentCount, failedCount].filter((known) => known !== undefined);
  if (counts.length === 0) return progressPercentage && Math.min(1, progressPercentage / 100);
  const done = counts.reduce((sum, known) => sum + known, 0);
  if (done >= recipients || state === "Processed") return 1;
  return Math.min(
    0.99,
    progressPercentage === undefined ? done / recipients : progressPercentage / 100,
  );
}

/** `delivered 40,120, read 12,004, not known yet 47,876 of 100,000`: each recipient counts once. `rest`: those that have no word. */
export function totalsLine(
  states: Record<string, number>,
  recipients: number,
  rest = "not known yet",
): string {
  const known = Object.values(states).reduce((sum, number) => sum + number, 0);
  const others = known < recipients ? [`${rest} ${count(recipients - known)}`] : [];
  return `${[...wordsOf(states), ...others].join(", ")} of ${count(recipients)}`;
}

function wordsOf(states: Record<string, number>): string[] {
  const place = (state: string) => (order.includes(state) ? order.indexOf(state) : order.length);
  return Object.entries(states)
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([state, number]) => `${state} ${count(number)}`);
}

/** `1:02:03`, `0:47` */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3_600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
