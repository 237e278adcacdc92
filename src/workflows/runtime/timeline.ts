// Limits the timeline that is shown: a status and a result are one payload each, and Temporal refuses payloads above 2 MB
// (docs/decisions/0020). Bytes are those of the JSON.
import { plainText } from "../../contracts/shared/text.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";

const encoder = new TextEncoder();
/** The limit in bytes for the process's own entries, and for the callbacks. */
export const MAX_TIMELINE_BYTES = 150_000;
/** Limits a text of a person or a provider, in bytes. */
export const maxBytes = { event: 500, by: 500, note: 2_000 };

/** The limits of the timeline in a memo, which is written with each change: a warning of Temporal's begins at 2 kB. */
export const MAX_NEWEST = 5;
const MAX_NEWEST_BYTES = 800;
/** The limits in bytes for a text in a memo. */
const maxNewestBytes: typeof maxBytes = { event: 120, by: 60, note: 150 };

/** The last of the `arrivals` and as many before it as there is room for in a memo, in the order of the times that they state. */
export function newest(arrivals: readonly TimelineEntry[]): TimelineEntry[] {
  const backward = arrivals.map((entry) => cut(entry, maxNewestBytes)).toReversed();
  return inOrder(backward.slice(0, Math.max(1, fitting(backward, MAX_NEWEST_BYTES))).toReversed());
}

export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The first entries and the newest, as many as there is room for: half of it for each. */
export function bounded<E extends object>(entries: readonly E[]): { kept: E[]; leftOut: number } {
  const head = fitting(entries, MAX_TIMELINE_BYTES / 2);
  const tail = fitting(entries.slice(head).toReversed(), MAX_TIMELINE_BYTES / 2);
  const leftOut = entries.length - head - tail;
  const kept = [...entries.slice(0, head), ...entries.slice(head + leftOut)];
  return { kept, leftOut };
}

/** How many of the first entries there is room for. */
function fitting(entries: readonly object[], maxBytes: number): number {
  let bytes = 0;
  const end = entries.findIndex((entry) => {
    bytes += encoder.encode(JSON.stringify(entry)).length + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? entries.length : end;
}

/** An entry that may quote a person or a provider. */
export function cut({ by, note, ...entry }: TimelineEntry, most = maxBytes): TimelineEntry {
  return {
    ...entry,
    event: plainText(entry.event, most.event),
    ...(by === undefined ? {} : { by: plainText(by, most.by) }),
    ...(note === undefined ? {} : { note: plainText(note, most.note) }),
  };
}
