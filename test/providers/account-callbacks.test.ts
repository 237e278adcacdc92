// The callbacks to an account's address, of which little is shown (P1 §6.1, §6.2): any JSON is an event. The configuration says where the
// reference stands; of a call-closing event the token is read too, and is no part of the event.
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { ProviderEvent } from "../../src/contracts/shared/provider-event.js";
import { parseAccountCallback as parseSignature } from "../../src/providers/one-shot-signature/callback.js";
import { parseAccountCallback as parseCall } from "../../src/providers/video-identification/callback.js";
import { jwt } from "./video-identification/account.js";

const receivedAt = new Date("2026-03-02T11:00:00.000Z");
const webhook = { event: "signed", request_pk: "r1", date: "2026-03-02T10:00:00+01:00" };
const signature = (body: unknown, at = receivedAt) => parseSignature(body, at, undefined);
const call = (body: unknown) => parseCall(body, receivedAt, undefined);

describe.each([
  { provider: "one-shot-signature", parse: parseSignature, kind: "webhook", shown: "request_pk" },
  { provider: "video-identification", parse: parseCall, kind: "callClosed", shown: "idConference" },
])("of $provider", ({ parse, kind, shown }) => {
  test.each([null, [], "signed", 7, {}, { event: 7, date: "soon" }, { event: "", date: 5 }])(
    "%j is an event of the time of its receipt",
    (body) => {
      const { event } = parse(body, receivedAt, undefined);
      expect(event).toMatchObject({ kind, at: receivedAt.toISOString() });
    },
  );

  test("the reference stands where the account says", () => {
    const body = { message: { conference: { id: 17 } }, [shown]: "r1" };
    const pointer = { webhookPointer: "/message/conference/id" };
    const own = { ...pointer, closeEventPointer: pointer.webhookPointer };
    expect(parse(body, receivedAt, own).reference).toBe("17");
    expect(parse(body, receivedAt, undefined).reference).toBe("r1");
    expect(parse({}, receivedAt, undefined).reference).toBeUndefined();
  });

  test("the same payload is the same event, whenever it comes; another one is another, also with its identifier", () => {
    const idOf = (event: string, at = receivedAt) =>
      parse({ Identifier: "e-1", event, token: jwt }, at, undefined).event.id;
    expect(idOf("otp")).toMatch(/^[0-9a-f]{64}$/);
    expect(idOf("otp", new Date("2026-03-03T00:00:00Z"))).toBe(idOf("otp"));
    expect(idOf("signed")).not.toBe(idOf("otp"));
  });

  test("any JSON is an event of the contract, without a secret", () => {
    const names = ["event", "date", "Identifier", "message", "__proto__", "token", shown];
    const value = fc.oneof(fc.jsonValue(), fc.constant({ token: jwt }), fc.constant(jwt));
    const anything = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), value));
    fc.assert(
      fc.property(anything, (body) => {
        const { event, secret } = { secret: undefined, ...parse(body, receivedAt, undefined) };
        expect(ProviderEvent.parse(event)).toEqual(event);
        if (secret !== undefined) expect(JSON.stringify(event)).not.toContain(secret);
      }),
    );
  });
});

test("kind and time of a webhook are the payload's where it says them", () => {
  const at = "2026-03-02T09:00:00.000Z";
  expect(signature(webhook).event).toMatchObject({ kind: "signed", at });
  const { date: _, ...timeless } = webhook;
  const received = receivedAt.toISOString();
  expect(signature(timeless).event).toMatchObject({ kind: "signed", at: received });
});

/** Running processes have these ids: a callback that comes again must be the same event. */
test("the id of an event stays as it was released", () => {
  expect(signature(webhook).event.id).toBe(
    "a97446262811403f904ca918980e5f6dd9d382ecc3b60af87982aee85eaf38cd",
  );
});

test("only id, kind and time are read from an unspecified payload, and no secret", () => {
  const more = { state: "signed", outcome: "ok", note: "n", evidenceId: "x", token: "t" };
  const parsed = signature({ ...webhook, ...more, message: { token: "t" } });
  expect(Object.keys(parsed)).toEqual(["event", "reference"]);
  expect(Object.keys(parsed.event)).toEqual(["id", "kind", "at"]);
});

test.each([
  ["nested", { message: { token: jwt } }, jwt],
  ["flat, by its whole name", { "message.token": jwt }, jwt],
  ["flat, by its last name", { token: jwt }, jwt],
  [
    "nested before flat",
    { token: "a.b.c", "message.token": "d.e.f", message: { token: jwt } },
    jwt,
  ],
  ["encrypted", { token: "eyJh..aXY.dGV4dA.dGFn" }, "eyJh..aXY.dGV4dA.dGFn"],
  [
    "in the place of the identifier and the kind too",
    { token: jwt, Identifier: jwt, event: jwt },
    jwt,
  ],
])("the token of a call is found %s", (_, body, secret) => {
  const id = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(call({ idConference: "c1", ...body })).toEqual({
    event: { id, kind: "callClosed", at: receivedAt.toISOString() },
    reference: "c1",
    secret,
  });
});

test.each([
  {},
  { message: "closed" },
  { message: { token: 7 } },
  { message: { token: "" } },
  { token: "no jwt" },
  { token: `${jwt}\r\nx: y` },
  { token: `a.${"b".repeat(8_000)}.c` },
])("%j carries no token", (body) => {
  expect(call(body)).not.toHaveProperty("secret");
});
