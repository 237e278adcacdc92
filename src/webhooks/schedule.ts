// When a webhook is sent again that was not taken: soon at first, then over three days (the schedule that Standard Webhooks proposes).

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const pausesMs = [
  5_000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** The longest pause that an endpoint may ask for, so that the ten attempts end before retention removes the event. */
const LONGEST_ASKED_MS = 12 * HOUR;

/**
 * After so many failed attempts; undefined after the last one. `askedMs` is what the endpoint has asked for: it may make a pause longer, and
 * never shorter. Up to a tenth longer, so that not all come back at once.
 */
export function pauseAfter(
  tries: number,
  { askedMs = 0, random = Math.random() } = {},
): number | undefined {
  const planned = pausesMs[tries - 1];
  if (planned === undefined) return undefined;
  const pause = Math.max(planned, Math.min(askedMs, LONGEST_ASKED_MS));
  return Math.round(pause * (1 + random / 10));
}
