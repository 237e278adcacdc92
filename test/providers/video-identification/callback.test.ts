// The call-closing event (P1 §6.1): of its payload only the token is shown. Any JSON is an event, whatever the rest of it is.
import { expect, test } from "vitest";
import fc from "fast-check";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { parseAccountCallback } from "../../../src/providers/video-identification/callback.js";
import { jwt } from "./account.js";

const receivedAt = new Date("2026-03-02T09:15:27.000Z");
const parse = (body: unknown) => parseAccountCallback(body, receivedAt, undefined);

test.each([
  ["nested", { message: { token: jwt } }],
  ["flat, by its whole name", { "message.token": jwt }],
  ["flat, by its last name", { token: jwt }],
])("the token is found %s", (_, body) => {
  expect(parse({ idConference: "c1", ...body })).toEqual({
    event: { id: expect.any(String), kind: "callClosed", at: receivedAt.toISOString() },
    reference: "c1",
    secret: jwt,
  });
});

test("the nested token counts before a flat one", () => {
  const body = { token: "a.b.c", "message.token": "d.e.f", message: { token: jwt } };
  expect(parse(body).secret).toBe(jwt);
});

test.each([
  {},
  [],
  null,
  "closed",
  { message: "closed" },
  { message: { token: 7 } },
  { message: { token: "" } },
  { token: "no jwt" },
  { token: `${jwt}\r\nx: y` },
  { token: `a.${"b".repeat(8_000)}.c` },
])("%j carries no token, and is an event all the same", (body) => {
  expect(parse(body)).not.toHaveProperty("secret");
  expect(parse(body).event).toMatchObject({ kind: "callClosed" });
});

test("an encrypted token is one too", () => {
  expect(parse({ token: "eyJh..aXY.dGV4dA.dGFn" }).secret).toBe("eyJh..aXY.dGV4dA.dGFn");
});

test("the reference stands where the account says", () => {
  const body = { message: { conference: { id: 17 } }, idConference: "c1" };
  const own = { closeEventPointer: "/message/conference/id" };
  expect(parseAccountCallback(body, receivedAt, own).reference).toBe("17");
  expect(parse(body).reference).toBe("c1");
  expect(parse({}).reference).toBeUndefined();
});

test("an event is known by all of it, so that a forgery with its identifier does not stand in for it", () => {
  const genuine = parse({ Identifier: "e-1", token: jwt }).event;
  expect(genuine.id).toMatch(/^[0-9a-f]{64}$/);
  expect(parse({ Identifier: "e-1", token: jwt }).event.id).toBe(genuine.id);
  expect(parse({ Identifier: "e-1", token: `${jwt}x` }).event.id).not.toBe(genuine.id);
});

test("a token that stands for the event's id or kind too is not taken for them", () => {
  const { event } = parse({ token: jwt, Identifier: `of ${jwt}`, event: jwt });
  expect(event).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{64}$/), kind: "callClosed" });
});

test("the token is no part of the event, whatever the payload is", () => {
  const member = fc.constantFrom("event", "date", "Identifier", "message", "__proto__", "token");
  const value = fc.oneof(fc.jsonValue(), fc.constant({ token: jwt }), fc.constant(jwt));
  const anything = fc.oneof(fc.jsonValue(), fc.dictionary(member, value));
  fc.assert(
    fc.property(anything, (body) => {
      const { event, secret } = parse(body);
      expect(ProviderEvent.parse(event)).toEqual(event);
      if (secret !== undefined) expect(JSON.stringify(event)).not.toContain(secret);
    }),
  );
});
