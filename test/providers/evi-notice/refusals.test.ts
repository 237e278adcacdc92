// What every status means for every operation (P2 §4.2, §4.3, §7.2), by effect class and by what the tables of the section say.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { effects } from "../../../src/providers/evi-notice/effects.js";
import type { NoticeOperation } from "../../../src/providers/evi-notice/effects.js";
import type { EffectClass } from "../../../src/providers/effect-classes.js";
import { errorOf } from "../evi-post/account.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

const protocol = "protocol none";
const refused = "invalidRequest none";
const denied = "accessDenied none";
const unknown = "unknownOutcome unknown";
const lookUp = "unavailable unknown";
const away = "unavailable none";
const limited = "rateLimited none";
const invisible = "notVisibleYet none";
const inDoubt = "protocol unknown";

const table: [number, Record<EffectClass, string>][] = [
  [302, { keyed: lookUp, read: protocol, repeatable: away, lookup: lookUp, once: unknown }],
  [400, { keyed: refused, read: protocol, repeatable: refused, lookup: refused, once: refused }],
  [401, { keyed: denied, read: denied, repeatable: denied, lookup: denied, once: denied }],
  [403, { keyed: denied, read: denied, repeatable: denied, lookup: denied, once: denied }],
  [
    404,
    { keyed: inDoubt, read: invisible, repeatable: invisible, lookup: invisible, once: invisible },
  ],
  [405, { keyed: inDoubt, read: protocol, repeatable: protocol, lookup: protocol, once: protocol }],
  [408, { keyed: lookUp, read: away, repeatable: away, lookup: lookUp, once: unknown }],
  [409, { keyed: lookUp, read: away, repeatable: away, lookup: lookUp, once: unknown }],
  [413, { keyed: inDoubt, read: protocol, repeatable: protocol, lookup: protocol, once: protocol }],
  [429, { keyed: limited, read: limited, repeatable: limited, lookup: limited, once: limited }],
  [500, { keyed: lookUp, read: away, repeatable: away, lookup: lookUp, once: unknown }],
  [503, { keyed: lookUp, read: away, repeatable: away, lookup: lookUp, once: unknown }],
];

/** Where an operation differs from its class; `success`: what is not there is gone. */
const exceptions: Partial<Record<NoticeOperation, Record<number, string>>> = {
  query: { 404: protocol },
  queryBatches: { 404: protocol },
  createBatch: { 404: protocol },
  addRecipients: { 409: refused },
  deleteBatch: { 404: "success" },
  deleteRecipients: { 404: "success" },
  deleteBatchAttachment: { 404: "success" },
};

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());

describe.each(table)("a %i is", (status, byClass) => {
  const rows = (Object.entries(effects) as [NoticeOperation, EffectClass][]).map(
    ([operation, effectClass]) =>
      [operation, exceptions[operation]?.[status] ?? byClass[effectClass]] as const,
  );

  test.each(rows)("for %s: %s", async (operation, meaning) => {
    const problem = { Status: status, Type: "urn:some:type", RequestId: "r-1" };
    handler = answering(problem, status, { "retry-after": "7" });
    const call = calls[operation](accountAt(server.url));
    if (meaning === "success") return expect(await call).toBeUndefined();
    const error = await errorOf(call);
    expect(`${error.kind} ${error.effect}`).toBe(meaning);
    expect(error).toMatchObject({ status, type: "urn:some:type", requestId: "r-1" });
    expect(error.retryAfterMs).toBe(7000);
    expect(error.denies).toBe(status === 403 ? "operation" : "account");
  });
});

test.each([
  [{ Detail: "line 3 has no address" }, "line 3 has no address"],
  [{}, "the list of recipients failed the validation"],
  ["", "the list of recipients failed the validation"],
])(
  "a list that failed validation is what is wrong, whatever the 409 says: %j",
  async (body, said) => {
    handler = answering(body, 409);
    const error = await errorOf(calls.addRecipients(accountAt(server.url)));
    expect(error.detail).toBe(said);
  },
);

test.each(["", " ", "{}", "{ }", "[]\n", "null", '""'])(
  "a refusal that says nothing, %j, shows nothing",
  async (body) => {
    handler = answering(body, 400);
    expect(await errorOf(calls.submit(accountAt(server.url)))).not.toHaveProperty("detail");
    handler = answering(`${body} too many`, 400);
    const { detail } = await errorOf(calls.submit(accountAt(server.url)));
    expect(detail).toContain("too many");
  },
);
