import { afterAll, afterEach, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { call, post, query, submission, submit } from "../../caller.js";

const sandbox = await startSandbox({ speed: "manual" });
afterAll(() => sandbox.close());
afterEach(() => sandbox.faults.clear());

const count = (intent: string) => sandbox.ledger(intent).effects.length;
const violations = (intent: string) => sandbox.ledger(intent).violations.map(({ kind }) => kind);

test("a refusal before processing has no effect, hits the nth call, and carries Retry-After", async () => {
  sandbox.faults.add({
    operation: "evi-post.submit",
    kind: "reject",
    status: 429,
    retryAfterSeconds: 7,
    call: 2,
    times: 2,
  });
  const statuses: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const answer = await submit(sandbox.url, submission({ LookupKey: `nth-${turn}` }));
    statuses.push(answer.status);
    if (answer.status === 429) expect(answer.headers.get("retry-after")).toBe("7");
  }
  expect(statuses).toEqual([200, 429, 429, 200]);
  expect([0, 1, 2, 3].map((turn) => count(`nth-${turn}`))).toEqual([1, 0, 0, 1]);
});

test("web-page: 200 and a web page in the provider's place, and no effect", async () => {
  const body = submission({ LookupKey: "page", RecipientName: "sandbox:submit=web-page" });
  await expect(submit(sandbox.url, body)).rejects.toThrow(/<!DOCTYPE/);
  expect(count("page")).toBe(0);
  expect((await submit(sandbox.url, body)).status).toBe(200);
  expect(count("page")).toBe(1);
});

test("a fault may be addressed by LookupKey, on every operation about it", async () => {
  sandbox.faults.add({ operation: "evi-post.cancel", kind: "reject", lookupKey: "mine" });
  const mine = await post(sandbox.url, { LookupKey: "mine" });
  const other = await post(sandbox.url, { LookupKey: "other" });
  const cancel = (id: string) =>
    call(sandbox.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  expect((await cancel(other)).status).toBe(200);
  expect((await cancel(mine)).status).toBe(503);
  expect((await cancel(mine)).status).toBe(200);
});

test("cut-mid-body: the effect is there, half the answer is not", async () => {
  const body = submission({ LookupKey: "half", RecipientName: "sandbox:submit=cut-mid-body" });
  await expect(submit(sandbox.url, body)).rejects.toThrow();
  expect(count("half")).toBe(1);
});

test("error-after-commit: the effect is there, and the token remembers nothing (P2 §4.1)", async () => {
  const body = submission({
    LookupKey: "five",
    RecipientName: "sandbox:submit=error-after-commit",
  });
  expect((await submit(sandbox.url, body, "token-five")).status).toBe(500);
  expect((await submit(sandbox.url, body, "token-five")).status).toBe(200);
  expect(sandbox.ledger("five").duplicates).toEqual([
    { intent: "five", operation: "evi-post.submit", count: 2 },
  ]);
  expect(violations("five")).toEqual(["repeatedWithoutLookUp"]);
});

test("a look-up between the two makes the repeat no violation, and finds the item", async () => {
  const body = submission({ LookupKey: "six", RecipientName: "sandbox:submit=cut-after-commit" });
  await expect(submit(sandbox.url, body, "token-six")).rejects.toThrow();
  const found = await call(sandbox.url, "/v1/EviPost/Query?WithLookupKeys=six");
  expect(found.body.totalMatches).toBe(1);
  await submit(sandbox.url, body, "token-six");
  expect(violations("six")).toEqual([]);
});

test("cut: the connection closes before processing", async () => {
  const body = submission({ LookupKey: "seven", RecipientName: "sandbox:submit=cut" });
  await expect(submit(sandbox.url, body)).rejects.toThrow();
  expect(count("seven")).toBe(0);
  expect((await submit(sandbox.url, body)).status).toBe(200);
});

test("unreadable: a 200 whose body is no JSON", async () => {
  const body = submission({ LookupKey: "eight", RecipientName: "sandbox:submit=unreadable" });
  await expect(submit(sandbox.url, body)).rejects.toThrow(/JSON/);
  expect(count("eight")).toBe(1);
});

test("two running requests with one token both take effect, and are noted (P2 §4.1)", async () => {
  const body = submission({ LookupKey: "nine", RecipientName: "sandbox:submit=slow-200" });
  const first = submit(sandbox.url, body, "token-nine");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const second = await submit(sandbox.url, body, "token-nine");
  expect([(await first).status, second.status]).toEqual([200, 200]);
  expect(count("nine")).toBe(2);
  expect(violations("nine")).toEqual(["concurrentToken"]);
});

test("a token with another document is noted; the first body is replayed (P2 §4.1)", async () => {
  const first = await submit(sandbox.url, submission({ LookupKey: "ten" }), "token-ten");
  const second = await submit(
    sandbox.url,
    submission({ LookupKey: "ten", IssuerName: "other" }),
    "token-ten",
  );
  expect(second).toMatchObject({ status: 202, body: first.body });
  expect(violations("ten")).toEqual(["tokenForOtherBody"]);
});

test("another callback address under the same token is no other body", async () => {
  const body = (url: string) =>
    submission({ LookupKey: "eleven", Options: { PushNotificationUrl: url } });
  await submit(sandbox.url, body("https://a.invalid/1"), "token-11");
  expect((await submit(sandbox.url, body("https://a.invalid/2"), "token-11")).status).toBe(202);
  expect(violations("eleven")).toEqual([]);
});

test("invisible: the first queries miss the new item, and so does a cancel", async () => {
  const id = await post(sandbox.url, { RecipientName: "sandbox:invisible" });
  const cancel = () => call(sandbox.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  expect((await cancel()).status).toBe(404);
  expect(await query(sandbox.url, id)).toBeUndefined();
  expect(await query(sandbox.url, id)).toBeUndefined();
  expect(await query(sandbox.url, id)).toBeDefined();
  expect((await cancel()).status).toBe(200);
});

test("a service that is down cuts every call until the fault goes", async () => {
  const rule = sandbox.faults.add({ operation: "*", kind: "cut", times: "always" });
  await expect(call(sandbox.url, "/v1/EviPost/Query")).rejects.toThrow();
  await expect(submit(sandbox.url, submission())).rejects.toThrow();
  sandbox.faults.remove(rule.id);
  expect((await submit(sandbox.url, submission())).status).toBe(200);
});

test("an unknown field is noted", async () => {
  await submit(sandbox.url, submission({ LookupKey: "odd", Recipientname: "x" }));
  expect(violations("odd")).toEqual(["unknownField"]);
});

test("a fault that fits no operation is refused, naming the field", () => {
  expect(() => sandbox.faults.add({ operation: "evi-post.submitt", kind: "cut" })).toThrow(
    /^operation: /,
  );
  expect(() => sandbox.faults.add({ operation: "evi-post.submit", kind: "lost" })).toThrow(
    /^kind: /,
  );
});
