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

/** After so many failed attempts; undefined after the last one. Up to a tenth longer, so that not all come back at once. */
export function pauseAfter(tries: number, random = Math.random()): number | undefined {
  const pause = pausesMs[tries - 1];
  return pause && Math.round(pause * (1 + random / 10));
}
