// Limits the timeline that is shown: a status and a result are one payload each, and Temporal refuses payloads above 2 MB
// (docs/decisions/0020). Bytes are those of the JSON.
import { plainText } from "../../contracts/shared/text.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";

const encoder = new TextEncoder();
/** The limit in bytes for the process's own entries, and for the callbacks. */
export const MAX_TIMELINE_BYTES = 150_000;
/** The limit in bytes for a text of a person or a provider. */
export const maxBytes = { event: 500, by: 500, note: 2_000 };

/** The limits of the timeline in a memo, which is written with each change: a warning of Temporal's begins at 2 kB. */
const MAX_NEWEST = 5;
const MAX_NEWEST_BYTES = 800;

/** The newest entries, for a status that is kept small. */
export function newest(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const backward = entries.slice(-MAX_NEWEST).toReversed();
  return backward.slice(0, fitting(backward, MAX_NEWEST_BYTES)).toReversed();
}

/** The first entries and the newest, as many as there is room for: half of it for each. */
export function bounded(entries: readonly TimelineEntry[]): {
  kept: TimelineEntry[];
  leftOut: number;
} {
  const head = fitting(entries, MAX_TIMELINE_BYTES / 2);
  const tail = fitting(entries.slice(head).toReversed(), MAX_TIMELINE_BYTES / 2);
  const leftOut = entries.length - head - tail;
  const kept = [...entries.slice(0, head), ...entries.slice(head + leftOut)];
  return { kept, leftOut };
}

/** How many of the first entries there is room for. */
function fitting(entries: readonly TimelineEntry[], maxBytes: number): number {
  let bytes = 0;
  const end = entries.findIndex((entry) => {
    bytes += encoder.encode(JSON.stringify(entry)).length + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? entries.length : end;
}

/** An entry of our own, which may quote a person or a provider. */
export function cut({ by, note, ...entry }: TimelineEntry): TimelineEntry {
  return {
    ...entry,
    event: plainText(entry.event, maxBytes.event),
    ...(by === undefined ? {} : { by: plainText(by, maxBytes.by) }),
    ...(note === undefined ? {} : { note: plainText(note, maxBytes.note) }),
  };
}
