// What all simulated providers have in common: the faults of one call, in the provider's own error shape, its credentials, its ledger,
// and ids that come from the seed. Each row begins something at one provider, under a reference of the caller's.
import { expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../src/sandbox.js";
import { ofFile } from "../../../../test/harness/of-file.js";
import { basic, submission } from "../caller.js";
import { exchange, type SentRequest } from "../exchange.js";
import { enroll, holderBody, sendOtp } from "./disposable-certificate/caller.js";
import { certificateOf, creation } from "./envelope-signature/sender.js";
import { notices, smallest } from "./evi-notice/sender.js";

interface Service {
  operation: string;
  /** With magic words, where some are given. */
  request(reference: string, words?: string): SentRequest;
  /** The headers without which it is nobody's. One that is known by its certificate has none. */
  credentials: string[];
  /** How the provider says an error; undefined where a fault of its own says nothing. */
  error?: object;
  /** The number of effects where the first answer is lost and the call is made again. */
  afterLoss?: 1;
}

const json = { "content-type": "application/json" };
const post = { method: "POST", headers: { authorization: basic(), ...json } } as const;
const said = (words?: string) => (words === undefined ? {} : { sandbox: words });
const magic = (words?: string) => (words === undefined ? "Ada" : `sandbox:${words}`);

const services: Record<string, Service> = {
  "evi-post": {
    operation: "submit",
    credentials: ["Authorization"],
    request: (LookupKey, words) => {
      const body = submission({ LookupKey, RecipientName: magic(words) });
      return { ...post, path: "/v1/EviPost/Submit", body };
    },
    error: { responseStatus: { errorCode: "Sandbox" } },
  },
  "evi-notice": {
    operation: "submit",
    credentials: ["Authorization"],
    request: (LookupKey, words) => {
      const body = { ...smallest, LookupKey, RecipientDisplayName: magic(words) };
      return { ...post, path: `${notices}/Submit`, body };
    },
    error: { Status: 503, Type: expect.stringMatching(/Sandbox$/) },
  },
  "disposable-certificate": {
    operation: "enroll",
    credentials: ["Authorization"],
    request: (reference, words) => {
      const body = holderBody(magic(words), reference);
      const path = "/api/certificate/lra-1/enroll";
      return { ...post, path, body, clientCertificate: true };
    },
  },
  "messaging-gateway": {
    operation: "send",
    credentials: ["Authorization", "X-Api-Key"],
    request: (clientReference, words) => {
      const headers = { ...post.headers, "x-api-key": "sandbox-api-key" };
      const body = { clientReference, ...said(words) };
      return { ...post, path: "/api/services/send", headers, body };
    },
    error: { code: 0 },
  },
  "one-shot-signature": {
    operation: "create",
    credentials: ["Authorization"],
    request: (reference, words) => {
      const headers = { ...json, authorization: "Token sandbox-token" };
      const body = { reference, ...said(words) };
      return { ...post, path: "/oneshot/api/v1/create", headers, body };
    },
    error: { code: "Sandbox" },
  },
  "envelope-signature": {
    operation: "esawoneshot",
    credentials: [],
    request: (reference, words) => ({ ...creation, body: { reference, ...said(words) } }),
    error: { code: "Sandbox" },
  },
  "credential-wallet": {
    operation: "createOperator",
    credentials: ["Authorization"],
    request: (reference, words) => {
      const headers = { ...json, authorization: "Bearer sandbox-api-token" };
      const body = { reference, ...said(words) };
      return { ...post, path: "/api/v1/user/create/", headers, body };
    },
    error: { code: "Sandbox" },
  },
  "video-identification": {
    operation: "rejectCall",
    credentials: ["apikey"],
    request: (reference, words) => {
      const idConference = [reference, words?.replaceAll("=", ":")].filter(Boolean).join("~");
      const headers = { ...json, apikey: "sandbox-api-key" };
      const path = "/api/v2/rejectCall";
      return { method: "PATCH", path, headers, query: { idConference }, body: {} };
    },
    error: { code: "Sandbox" },
    afterLoss: 1,
  },
};
const rows = Object.entries(services);

const sandbox = ofFile(() => startSandbox({ speed: "manual" }));

const send = (request: SentRequest, on: Sandbox = sandbox) =>
  exchange(on, request, request.clientCertificate ? certificateOf(on, "sandbox") : undefined);

const ledgerOf = (reference: string, name: string) => {
  const { byIntent, duplicates } = sandbox.ledger(reference);
  return { count: byIntent[reference]?.[name] ?? 0, duplicates };
};

test.each(rows)("%s refuses an unknown word", async (provider, { request }) => {
  const { status, text } = await send(request(`${provider}-odd`, "nonsense"));
  expect(status).toBe(provider === "disposable-certificate" ? 500 : 400);
  expect(text).toContain("unknown magic value: nonsense");
});

test.each(rows)(
  "%s: a fault comes before the effect, once, in the provider's own error shape",
  async (provider, { operation, request, error }) => {
    const name = `${provider}.${operation}`;
    const reference = `${provider}-late`;
    sandbox.faults.add({ operation: name, kind: "reject", call: 2, lookupKey: reference });
    expect((await send(request("another"))).status).toBe(200);
    const first = await send(request(reference, `${operation}=reject-503`));
    expect(first.status).toBe(503);
    if (error) expect(first.body).toMatchObject(error);
    else expect(first.body).toBeUndefined();
    expect((await send(request(reference))).status).toBe(503);
    expect(ledgerOf(reference, name).count).toBe(0);
    expect((await send(request(reference))).status).toBe(200);
    expect(ledgerOf(reference, name)).toEqual({ count: 1, duplicates: [] });
  },
);

test.each(rows)(
  "%s, cut-after-commit: the effect is there, the answer is not, and the ledger knows a second one",
  async (provider, { operation, request, afterLoss = 2 }) => {
    const reference = `${provider}-cut`;
    const given = request(reference, `${operation}=cut-after-commit`);
    await expect(send(given)).rejects.toThrow();
    const name = `${provider}.${operation}`;
    expect(ledgerOf(reference, name)).toEqual({ count: 1, duplicates: [] });
    expect((await send(given)).status).toBe(afterLoss === 1 ? 409 : 200);
    const duplicate = { intent: reference, operation: name, count: 2 };
    const duplicates = afterLoss === 1 ? [] : [duplicate];
    expect(ledgerOf(reference, name)).toEqual({ count: afterLoss, duplicates });
  },
);

const ofCredentials = rows.flatMap(([provider, { operation, request, credentials }]) =>
  credentials.map((credential) => [provider, credential, operation, request] as const),
);
test.each(ofCredentials)(
  "%s: a request without %s is refused, and noted",
  async (provider, credential, operation, request) => {
    const { headers = {}, ...given } = request(`${provider}-nobody`);
    const kept = Object.entries(headers).filter(
      ([name]) => name.toLowerCase() !== credential.toLowerCase(),
    );
    const { status } = await send({ ...given, headers: Object.fromEntries(kept) });
    expect(status).toBe(provider === "disposable-certificate" ? 500 : 401);
    expect(sandbox.ledger().violations.at(-1)).toMatchObject({
      kind: "missingAuthorization",
      operation: `${provider}.${operation}`,
      detail: `no ${credential} header`,
      account: null,
    });
  },
);

test("the same seed gives the same ids, tokens and codes, another seed others", async () => {
  const startAt = new Date("2026-01-05T09:00:00Z");
  const run = async (seed: string) => {
    const other = await startSandbox({ speed: "manual", seed, startAt });
    const texts: string[] = [];
    for (const [, { request }] of rows) texts.push((await send(request("seeded"), other)).text);
    texts.push(await sendOtp(other, await enroll(other)));
    await other.close();
    return texts;
  };
  const [one, twin, third] = [await run("one"), await run("one"), await run("another")];
  expect(twin).toEqual(one);
  // The ids of video identification are the caller's own.
  const same = one?.filter((text) => third?.includes(text));
  expect(same).toEqual([one?.[rows.length - 1]]);
});
