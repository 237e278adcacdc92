// The calls of the video identification service beyond the fixtures: where the credentials stand, what is refused before it is sent,
// and what an account may leave out (P1 §4.2, §5.2).
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/video-identification/client.js";
import type { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { auditMediaType } from "../../../src/providers/video-identification/wire.js";
import type { Operation } from "../../../src/providers/registry.js";
import { errorOf } from "../evi-post/account.js";
import { inMemory } from "../memory-keep.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import type { Received } from "../provider-server.js";
import { lookUp, meaningOf, protocol } from "../refusals.js";
import { accountAt, apiKey, calls, jwt, pointers, withToken } from "./account.js";

type VideoOperation = Operation<"video-identification">;
const all = Object.keys(calls) as VideoOperation[];

const server = serverOfEachTest();
const of = { idConference: "c1", token: new Secret(jwt) };

/** What the server got of one call. */
async function sentBy(operation: VideoOperation, changes = {}): Promise<Received> {
  server.answer = answering({ token: jwt });
  await calls[operation](accountAt(server.url, changes));
  return server.received.at(-1)!;
}

/** How a call ends that is not sent. */
async function unsent(call: Promise<unknown>): Promise<ProviderError> {
  const error = await errorOf(call);
  expect(meaningOf(error)).toBe(protocol);
  expect(server.received).toEqual([]);
  return error;
}

test.each(all)("the credential of %s is in its header and nowhere else", async (operation) => {
  const { headers, path, query, text } = await sentBy(operation);
  const isToken = withToken.includes(operation);
  const { apikey, authorization, ...others } = headers;
  expect({ apikey, authorization }).toEqual({
    apikey: isToken ? undefined : apiKey,
    authorization: isToken ? `Bearer ${jwt}` : undefined,
  });
  const elsewhere = JSON.stringify([path, query, text, others]);
  for (const secret of [apiKey, jwt, ...jwt.split(".")]) expect(elsewhere).not.toContain(secret);
});

test.each(withToken as VideoOperation[])(
  "%s names its conference as the account says",
  async (operation) => {
    const queryWith = async (changes: object) => (await sentBy(operation, changes)).query;
    expect(await queryWith({})).toEqual({ idConference: "c1" });
    expect(await queryWith({ conferenceParameter: "conf" })).toEqual({ conf: "c1" });
    expect(await queryWith({ conferenceParameter: undefined })).toEqual({});
  },
);

test.each(all)("a page in the place of the answer to %s shows no token", async (operation) => {
  server.answer = answering(`<p>${jwt}</p>`, 200, { "content-type": "text/html" });
  const error = await errorOf(calls[operation](accountAt(server.url)));
  expect(inspect(error, { showHidden: true })).not.toContain(jwt);
});

test.each(["", "no jwt", `${jwt}\r\nx: y`, "a.b", "a.b.c.d", "ä.b.c"])(
  "the token %j is never sent",
  async (token) => {
    const given = { ...of, token: new Secret(token) };
    const error = await unsent(client.conferenceData(accountAt(server.url), given));
    expect(error.message).toContain("no JWT");
  },
);

test.each([{ token: "t" }, { token: "" }, { other: jwt }, "t", 7, [jwt], { token: { jwt } }])(
  "an answer of genAPIToken without a JWT is none: %j",
  async (answer) => {
    server.answer = answering(answer);
    const error = await errorOf(calls.genAPIToken(accountAt(server.url)));
    expect(meaningOf(error)).toBe(protocol);
    expect(error.detail).toBeUndefined();
  },
);

test("the member of the token has the names that the account says", async () => {
  const members = { token: ["callToken"] };
  server.answer = answering({ call_token: jwt, token: "a.b.c" });
  const found = await client.genAPIToken(accountAt(server.url, { members }), "c1");
  expect(found).toEqual({ token: jwt });
});

test.each(["apikey", "apiKey", "X-Api-Key", "token", "JWT", "Authorization"])(
  "the query of an asynchronous request must not have %s",
  async (name) => {
    const given = { idConference: "c1", parameters: { [name]: "s" } };
    await unsent(client.getAsyncRequestInfo(accountAt(server.url), given));
  },
);

test.each([["a@example.com,b@example.com"], [""], [" "]])(
  "the address %j would mean something else, so it is not sent",
  async (email) => {
    const emails = ["ops@example.com", email];
    await unsent(client.registerAlertEmail(accountAt(server.url), { processId: "p1", emails }));
  },
);

test("an account without pointers claims nothing but the conference's id", async () => {
  const shown = { idConference: "c1", state: "closed", verdict: "verified", status: "done" };
  server.answer = answering(shown);
  const { body, ...claims } = await client.conferenceData(accountAt(server.url), of);
  expect(claims).toEqual({ idConference: "c1" });
  expect(JSON.parse(body.toString())).toEqual(shown);
  const { idConference } = of;
  expect(await client.getAsyncRequestInfo(accountAt(server.url), { idConference })).toEqual({});
});

test("words are the account's", async () => {
  const words = {
    open: ["in-progress"],
    closed: ["ENDED"],
    rejected: ["refused"],
    verified: ["ok"],
    notVerified: ["ko"],
    asyncDone: ["finished"],
  };
  const read = (body: object) => {
    server.answer = answering(body);
    return client.conferenceData(accountAt(server.url, { pointers, words }), of);
  };
  expect(await read({ state: "ended", verdict: "KO" })).toMatchObject({
    state: "closed",
    verdict: "notVerified",
  });
  // A verdict's word is none of a state.
  expect(await read({ state: "ok", verdict: "ended" })).toMatchObject({
    state: "ok",
    verdict: "ended",
  });
});

test.each([
  ["application/pdf", "%PDF-1.7\n"],
  ["application/zip", "PK\u0003\u0004…"],
  ["application/json", ' \n{"a":1'],
  ["application/json", "\ufeff[1]"],
  ["application/octet-stream", "\u0000\u0001"],
  ["application/octet-stream", "text"],
])("audit data are %s by their first bytes", async (mediaType, bytes) => {
  expect(auditMediaType(Buffer.from(bytes))).toBe(mediaType);
  server.answer = answering(bytes, 200, { "content-type": "application/x" });
  const found = await client.getAuditData(accountAt(server.url), of, inMemory);
  expect(found.mediaType).toBe(mediaType);
});

test.each(all)("a token that a refusal of %s shows of itself is not kept", async (operation) => {
  const other = `eyJhbGciOiJub25lIn0.${"x".repeat(30)}.sig`;
  for (const body of [{ message: `use ${other}`, code: other }, `<p>${other}</p>`, { at: other }]) {
    server.answer = answering(body, 403);
    const error = await errorOf(calls[operation](accountAt(server.url)));
    expect(error.detail).toContain("[secret]");
    expect(inspect(error, { depth: 9, getters: true, showHidden: true })).not.toContain("xxx");
  }
});

test.each([404, 410])("a %i of a deletion is success only where it is repeated", async (status) => {
  const deletion = (answered: number, isRepetition: boolean) => {
    server.answer = answering("", answered);
    return client.deleteAuditData(accountAt(server.url), { ...of, isRepetition });
  };
  expect(await deletion(status, true)).toBeUndefined();
  expect(meaningOf(await errorOf(deletion(status, false)))).toBe(protocol);
  expect(meaningOf(await errorOf(deletion(500, true)))).toBe(lookUp);
});
