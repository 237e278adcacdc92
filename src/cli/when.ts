// Reads a time that a person enters: an instant, or a span from now.
import { InvalidArgumentError } from "commander";
import { z } from "zod";

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A date, or a date and time with its offset from UTC. A day that no month has is none. */
const Instant = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

export const timeHelp =
  "a time such as 2026-11-26 or 2026-11-26T15:00:00Z, or a span such as 90m, 6h or 2d";

export const timeAgo = timeFrom(-1);
export const timeAhead = timeFrom(1);

/** A span counts into the past or into the future. */
function timeFrom(direction: 1 | -1): (text: string) => Date {
  return (text) => {
    const [, digits, unit = "s"] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    const spanMs = Number(digits) * unitsMs[unit as keyof typeof unitsMs];
    if (digits !== undefined && (direction > 0 || spanMs <= Date.now()))
      return new Date(Date.now() + direction * spanMs);
    if (Instant.safeParse(text).success) return new Date(text);
    const why = digits === undefined ? timeHelp : "a span that does not begin before 1970";
    throw new InvalidArgumentError(`must be ${why}`);
  };
}
