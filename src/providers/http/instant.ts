// Provider datetimes (ISO 8601, P2 §2.5, §2.11) as instants. One without an offset is taken as UTC: an assumption.

/** The extended form, and the basic one, which has no separators. */
const ISO_8601 =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):?(\d{2})(?::?(\d{2}))?(?:[.,](\d+))?\s?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?)?$/i;

/** RFC 3339 in UTC with milliseconds, of the years 1 to 9999, which a database takes too; undefined where it cannot be read. */
export function utcInstant(value: unknown): string | undefined {
  const match = typeof value === "string" ? ISO_8601.exec(value.trim()) : null;
  if (match === null) return undefined;
  const [, ...date] = match.slice(0, 4);
  const [hour = "00", minute = "00", second = "00", fraction = "0", hours, minutes = "00"] =
    match.slice(4);
  const day = date.join("-");
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day)
    return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const offset = hours === undefined ? "Z" : `${hours}:${minutes}`;
  const instant = new Date(`${day}T${hour}:${minute}:${second}.${milliseconds}${offset}`);
  if (Number.isNaN(instant.getTime())) return undefined;
  const year = instant.getUTCFullYear();
  return year < 1 || year > 9999 ? undefined : instant.toISOString();
}
