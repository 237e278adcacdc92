// The webhook, whose payload is not shown (P1 §6.2): any JSON is an event; what belongs to which process says a JSON pointer.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import {
  correlationAt,
  parseCallback,
} from "../../../src/providers/one-shot-signature/callback.js";

const receivedAt = new Date("2026-03-02T09:15:27.000Z");
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

test("an Identifier is the id", () => {
  expect(parseCallback({ ...webhook, Identifier: "e1" }, receivedAt).event.id).toBe("e1");
  expect(parseCallback({ ...webhook, Identifier: 17 }, receivedAt).event.id).toBe("17");
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

describe("a JSON pointer (RFC 6901)", () => {
  // §5 of the RFC, as far as a text or a number stands there.
  const document = JSON.parse(
    '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}',
  );
  test.each([
    ["/foo/0", "bar"],
    ["/", "0"],
    ["/a~1b", "1"],
    ["/c%d", "2"],
    ["/e^f", "3"],
    ["/g|h", "4"],
    ["/i\\j", "5"],
    ['/k"l', "6"],
    ["/ ", "7"],
    ["/m~0n", "8"],
  ])("%j finds %j", (pointer, expected) => {
    expect(correlationAt(document, pointer)).toBe(expected);
  });

  test.each([
    ["", document],
    ["/foo", document],
    ["/foo/2", document],
    ["/foo/-", document],
    ["/foo/00", document],
    ["/foo/length", document],
    ["/foo/0/0", document],
    ["foo/0", document],
    ["/toString/name", document],
    ["/__proto__/constructor/name", document],
    ["/a", { a: true }],
    ["/a", { a: null }],
    ["/a/b", { a: null }],
    ["/a", null],
    ["/~01", { "/": 1 }],
  ])("%j finds neither a text nor a number", (pointer, body) => {
    expect(correlationAt(body, pointer)).toBeUndefined();
  });

  test("the empty pointer is the whole document", () => {
    expect(correlationAt("r1", "")).toBe("r1");
  });

  test("finds whatever a path of any names leads to", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1, maxLength: 4 }),
        fc.string(),
        (names, value) => {
          const body = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
          const escaped = names.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
          expect(correlationAt(body, `/${escaped.join("/")}`)).toBe(value);
        },
      ),
    );
  });
});
