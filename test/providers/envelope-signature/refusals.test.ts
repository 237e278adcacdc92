// What every status means for every step (P1 §7.3 shows none: by effect class), in the words of either host.
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { errorOf } from "../evi-post/account.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

const steps = Object.keys(calls) as (keyof typeof calls)[];

const protocol = ["protocol", "none"];
const refused = ["invalidRequest", "none"];
const denied = ["accessDenied", "none"];
const unknown = ["unknownOutcome", "unknown"];
const away = ["unavailable", "none"];
const limited = ["rateLimited", "none"];

const table: [number, ...string[][]][] = [
  [302, unknown, away, unknown],
  [400, refused, protocol, protocol],
  [401, denied, denied, denied],
  [403, denied, denied, denied],
  [404, protocol, protocol, protocol],
  [405, protocol, protocol, protocol],
  [408, unknown, away, unknown],
  [409, unknown, away, unknown],
  [413, protocol, protocol, protocol],
  [429, limited, limited, limited],
  [500, unknown, away, unknown],
  [503, unknown, away, unknown],
];

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());

describe.each(table)("a %i is", (status, ...meanings) => {
  const rows = steps.map((step, index) => [step, meanings[index]] as const);
  test.each(rows)("for %s: %j", async (step, meaning) => {
    handler = answering({ ErrorId: "E1", Message: "words" }, status, { "retry-after": "7" });
    const error = await errorOf(calls[step](accountAt(server.url)));
    expect([error.kind, error.effect]).toEqual(meaning);
    expect(error).toMatchObject({ operation: step, status, code: "E1", retryAfterMs: 7000 });
    expect(error.detail).toBe("words");
  });
});

test.each([
  [{ code: 12, message: "no" }, "12", "no"],
  [{ ErrorId: "E1", Message: "no" }, "E1", "no"],
  [{ error: "no" }, undefined, '{"error":"no"}'],
  ["<h1>No</h1>", undefined, "<h1>No</h1>"],
])("%j is read as far as it goes", async (body, code, detail) => {
  handler = answering(body, 400);
  const error = await errorOf(calls.esawoneshot(accountAt(server.url)));
  expect(error.code).toBe(code);
  expect(error.detail).toBe(detail);
});
