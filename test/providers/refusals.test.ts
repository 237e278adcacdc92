// What every status means for every operation of every provider: by its effect class, and where a section says otherwise, by that
// (P2 §4.1–4.3, §7.1–7.2; P1 §4.1, §7; P1 §7.3 shows no error of the signature services and of the wallet).
import { describe, expect, test } from "vitest";
import type { EffectClass } from "../../src/providers/effect-classes.js";
import type { Provider } from "../../src/providers/registry.js";
import { operations } from "./operations.js";
import type { Called } from "./operations.js";
import { answering } from "./provider-server.js";
import type { Handler } from "./provider-server.js";
import {
  away,
  denied,
  errorAt,
  inDoubt,
  invisible,
  limited,
  lookUp,
  meaningOf,
  meeting,
  protocol,
  refused,
  success,
  unknown,
} from "./refusals.js";
import { withToken } from "./video-identification/account.js";

type Meanings = Record<EffectClass, string>;
const all = (meaning: string, changes: Partial<Meanings> = {}): Meanings => ({
  ...{ read: meaning, repeatable: meaning, keyed: meaning, lookup: meaning, once: meaning },
  ...changes,
});
/** The answer is lost, whatever was done. */
const lost: Meanings = {
  ...{ read: away, repeatable: lookUp, keyed: lookUp, lookup: lookUp, once: unknown },
};

const table: [number, Meanings][] = [
  [302, { ...lost, read: protocol }],
  [400, all(refused, { read: protocol })],
  [401, all(denied)],
  [403, all(denied)],
  [404, all(protocol, { read: invisible, keyed: inDoubt })],
  [405, all(protocol, { keyed: inDoubt })],
  [408, lost],
  [409, lost],
  [410, all(protocol, { keyed: inDoubt })],
  [413, all(protocol, { keyed: inDoubt })],
  [422, all(protocol, { keyed: inDoubt })],
  [429, all(limited)],
  [500, lost],
  [502, lost],
  [503, lost],
];

/** Where a provider, or one of its operations, differs from the class; of a 400, because something was done before. */
const exceptions: Record<string, Record<number, string>> = {
  "evi-post": { 404: invisible },
  "evi-post submit": { 404: inDoubt },
  "evi-post query": { 404: protocol },
  "evi-notice": { 404: invisible },
  "evi-notice submit": { 404: inDoubt },
  "evi-notice query": { 404: protocol },
  "evi-notice queryBatches": { 404: protocol },
  "evi-notice createBatch": { 404: protocol },
  "evi-notice addRecipients": { 409: refused },
  "evi-notice deleteBatch": { 404: success },
  "evi-notice deleteRecipients": { 404: success },
  "evi-notice deleteBatchAttachment": { 404: success },
  "disposable-certificate": { 404: protocol },
  "disposable-certificate sendOtp": { 400: protocol },
  "disposable-certificate validate": { 400: protocol },
  "envelope-signature uploadFile": { 400: protocol },
  "envelope-signature sendEnvelope": { 400: protocol },
  "one-shot-signature": { 400: protocol },
  "one-shot-signature create": { 400: refused },
  "one-shot-signature createToken": { 400: refused },
  "one-shot-signature sign": { 400: refused },
  "one-shot-signature listTokens": { 404: protocol },
  "video-identification genAPIToken": { 410: invisible },
  "video-identification getAsyncRequestInfo": { 410: invisible },
  "video-identification conferenceData": { 410: invisible },
  "video-identification getAuditData": { 410: invisible },
  "video-identification deleteAuditData": { 400: protocol },
};

/** The provider's error, and what is kept of it beside its words. */
const errors: Record<Provider, { body: unknown; shows: object }> = {
  "evi-post": { body: { responseStatus: { errorCode: "E1", message: "words" } }, shows: e1() },
  "evi-notice": {
    body: { Type: "urn:some:type", Detail: "words", RequestId: "r-1" },
    shows: { type: "urn:some:type", requestId: "r-1" },
  },
  // Its codes have meanings of their own (disposable-certificate/refusals.test.ts).
  "disposable-certificate": { body: "words", shows: {} },
  "messaging-gateway": { body: { code: 12, message: "words" }, shows: { code: "12" } },
  "one-shot-signature": { body: { code: "E1", message: "words" }, shows: e1() },
  "envelope-signature": { body: { ErrorId: "E1", Message: "words" }, shows: e1() },
  "credential-wallet": { body: { code: "E1", message: "words" }, shows: e1() },
  "video-identification": { body: { code: "E1", message: "words" }, shows: e1() },
};
function e1() {
  return { code: "E1" };
}

const meaning = ({ name, provider, effectClass }: Called, status: number, of: Meanings) =>
  exceptions[name]?.[status] ?? exceptions[provider]?.[status] ?? of[effectClass];

describe.each(table)("a %i is", (status, of) => {
  test.each(
    operations.map((called) => [called.name, meaning(called, status, of), called] as const),
  )("for %s: %s", async (_, expected, { provider, operation, call }) => {
    const { body, shows } = errors[provider];
    const handler = answering(body, status, { "retry-after": "7" });
    if (expected === success) return expect(await meeting(handler, call)).toBeUndefined();
    const error = await errorAt(handler, call);
    expect(meaningOf(error)).toBe(expected);
    const host = expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string;
    const about = { operation, host, status, detail: "words", retryAfterMs: 7000 };
    expect(error).toMatchObject({ ...about, ...shows });
    const isOfCall = status === 401 && provider === "video-identification";
    const isOperation = status === 403 || (isOfCall && withToken.includes(operation));
    expect(error.denies).toBe(isOperation ? "operation" : "account");
  });
});

const cut: Handler = (_, response) => void response.destroy();

test.each(operations.map((called) => [called.name, lost[called.effectClass], called] as const))(
  "%s without an answer is %s",
  async (_, expected, { call }) => expect(meaningOf(await errorAt(cut, call))).toBe(expected),
);

const signing = new Set([
  "one-shot-signature create",
  "envelope-signature esawoneshot",
  "credential-wallet createOperator",
  "video-identification rejectCall",
]);
describe.each(operations.filter(({ name }) => signing.has(name)))("of $name", ({ call }) => {
  test.each([
    [{ code: 12, message: "no" }, "12", "no"],
    [{ error: "no" }, undefined, '{"error":"no"}'],
    ["<h1>No</h1>", undefined, "<h1>No</h1>"],
  ])("an error %j is read as far as it goes", async (answer, code, detail) => {
    const error = await errorAt(answering(answer, 400), call);
    expect(error.message).toMatch(/: answered 400( \(12\))?$/);
    expect([error.code, error.detail]).toEqual([code, detail]);
  });
});
