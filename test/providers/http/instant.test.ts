// Provider datetimes become instants in UTC (P2 §2.5, §2.11); one without an offset is taken as UTC.
import { expect, test } from "vitest";
import { utcInstant } from "../../../src/providers/http/instant.js";

test.each([
  ["2026-03-02T09:15:27Z", "2026-03-02T09:15:27.000Z"],
  ["2026-03-02T09:15:27", "2026-03-02T09:15:27.000Z"],
  ["2026-03-02 09:15:27.5", "2026-03-02T09:15:27.500Z"],
  ["2026-03-02T09:15:27.1239999", "2026-03-02T09:15:27.123Z"],
  ["2026-03-02T09:15:27+0530", "2026-03-02T03:45:27.000Z"],
  ["2026-03-02T09:15:27.1234567-05:00", "2026-03-02T14:15:27.123Z"],
  ["2026-03-02t09:15z", "2026-03-02T09:15:00.000Z"],
  ["2026-03-02", "2026-03-02T00:00:00.000Z"],
  ["2026-02-30T09:15:27", undefined],
  ["2026-03-02T25:00:00", undefined],
  ["2026-13-02", undefined],
  ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01T00:00:00+01:00", undefined],
  ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"],
  ["9999-12-31T23:59:59-01:00", undefined],
  ["0000-06-01T00:00:00Z", undefined],
  ["02/03/2026", undefined],
  ["/Date(1772442927000)/", undefined],
  ["yesterday", undefined],
  ["", undefined],
  [1772442927000, undefined],
  [null, undefined],
])("%j is %j", (text, expected) => {
  expect(utcInstant(text)).toBe(expected);
});
