// Provider datetimes (ISO 8601, P2 §2.5, §2.11) as instants. One without an offset is taken as UTC: an assumption.

const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(?:[.,](\d+))?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** RFC 3339 in UTC with milliseconds, of the years 1 to 9999, which a database takes too; undefined where it cannot be read. */
export function utcInstant(value: unknown): string | undefined {
  const match = typeof value === "string" ? ISO_8601.exec(value.trim()) : null;
  if (match === null) return undefined;
  const [, day = "", minutes = "00:00", seconds = ":00", fraction = "0", zone = "Z"] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day)
    return undefined;
  const offset = zone.toUpperCase() === "Z" ? "Z" : zone.replace(/^(...):?(..)$/, "$1:$2");
  const instant = new Date(`${day}T${minutes}${seconds}.${milliseconds}${offset}`);
  if (Number.isNaN(instant.getTime())) return undefined;
  const year = instant.getUTCFullYear();
  return year < 1 || year > 9999 ? undefined : instant.toISOString();
}
