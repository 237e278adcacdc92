// The webhook, whose payload is not shown (P1 §6.2): any JSON is an event; what belongs to which process says a JSON pointer.
import { expect, test } from "vitest";
import fc from "fast-check";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { parseAccountCallback } from "../../../src/providers/one-shot-signature/callback.js";

const receivedAt = new Date("2026-03-02T09:15:27.000Z");
const parseCallback = (body: unknown, at: Date) => parseAccountCallback(body, at, undefined);
const webhook = { event: "signed", request_pk: "r1", date: "2026-03-02T10:00:00+01:00" };

test("kind and time are the payload's where it says them", () => {
  const { event } = parseCallback(webhook, receivedAt);
  expect(event).toMatchObject({ kind: "signed", at: "2026-03-02T09:00:00.000Z" });
});

test.each([null, [], "signed", 7, {}, { event: 7, date: "soon" }, { event: "", date: 5 }])(
  "%j is a webhook of the time of its receipt",
  (body) => {
    const { event } = parseCallback(body, receivedAt);
    expect(event).toMatchObject({ kind: "webhook", at: "2026-03-02T09:15:27.000Z" });
  },
);

test("a payload without a time keeps its kind, and its time is the receipt's", () => {
  const received = new Date("2026-03-02T11:00:00.000Z");
  const { event } = parseCallback({ event: "signed", request_pk: "r1" }, received);
  expect(event).toMatchObject({ kind: "signed", at: received.toISOString() });
});

test("the same payload is the same event, whenever it comes; another is another", () => {
  const later = new Date("2026-03-03T00:00:00Z");
  const ids = [
    parseCallback(webhook, receivedAt),
    parseCallback({ ...webhook }, later),
    parseCallback({ ...webhook, event: "failed" }, receivedAt),
  ].map(({ event }) => event.id);
  expect(ids[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
});

/** Running processes have these ids: a callback that comes again must be the same event. */
test("the id of an event stays as it was released", () => {
  expect(parseCallback(webhook, receivedAt).event.id).toBe(
    "a97446262811403f904ca918980e5f6dd9d382ecc3b60af87982aee85eaf38cd",
  );
});

test("no secret is read from a webhook", () => {
  const body = { ...webhook, token: "t", message: { token: "t" } };
  expect(Object.keys(parseCallback(body, receivedAt))).toEqual(["event", "reference"]);
});

test("two events with one Identifier are two: it may name the request that they are about", () => {
  const idOf = (event: string) =>
    parseCallback({ ...webhook, Identifier: "r-1", event }, receivedAt).event.id;
  expect(idOf("otp")).not.toBe(idOf("signed"));
});

test("only id, kind and time are read from an unspecified payload", () => {
  const body = { ...webhook, state: "signed", outcome: "ok", note: "n", evidenceId: "x" };
  expect(Object.keys(parseCallback(body, receivedAt).event)).toEqual(["id", "kind", "at"]);
});

test("any JSON is an event of the contract", () => {
  const member = fc.constantFrom("event", "date", "Identifier", "__proto__", "request_pk");
  const anything = fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue()));
  fc.assert(
    fc.property(anything, (body) => {
      const { event } = parseCallback(body, receivedAt);
      expect(ProviderEvent.parse(event)).toEqual(event);
    }),
  );
});
