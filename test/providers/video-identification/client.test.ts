// The calls of the video identification service beyond the fixtures: where the credentials stand, what is refused before it is sent,
// and what an account may leave out (P1 §4.2, §5.2).
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/video-identification/client.js";
import { auditMediaType } from "../../../src/providers/video-identification/wire.js";
import type { Operation } from "../../../src/providers/registry.js";
import { errorOf } from "../evi-post/account.js";
import { inMemory } from "../memory-keep.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Received } from "../provider-server.js";
import { away, errorAt, meaningOf, meeting, protocol } from "../refusals.js";
import { accountAt, apiKey, calls, jwt, pointers, withToken } from "./account.js";

type VideoOperation = Operation<"video-identification">;
const all = Object.keys(calls) as VideoOperation[];

/** What the server got of one call. */
async function sentBy(operation: VideoOperation, changes = {}): Promise<Received> {
  const server = await startProviderServer(answering({ token: jwt }));
  try {
    await calls[operation](accountAt(server.url, changes));
    expect(server.received).toHaveLength(1);
    return server.received[0]!;
  } finally {
    await server.close();
  }
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

test.each(["", "no jwt", `${jwt}\r\nx: y`, "a.b", "a.b.c.d", "ä.b.c"])(
  "the token %j is never sent",
  async (token) => {
    const server = await startProviderServer(answering({}));
    const of = { idConference: "c1", token: new Secret(token) };
    const error = await errorOf(client.conferenceData(accountAt(server.url), of));
    await server.close();
    expect(meaningOf(error)).toBe(protocol);
    expect(error.message).toContain("no JWT");
    expect(server.received).toEqual([]);
  },
);

test.each([{ token: "t" }, { token: "" }, { other: jwt }, "t", 7, [jwt], { token: { jwt } }])(
  "an answer of genAPIToken without a JWT is none: %j",
  async (answer) => {
    const error = await errorAt(answering(answer), (url) => calls.genAPIToken(accountAt(url)));
    expect(meaningOf(error)).toBe(protocol);
    expect(error.detail).toBeUndefined();
  },
);

test("the member of the token has the names that the account says", async () => {
  const members = { token: ["callToken"] };
  const found = await meeting(answering({ call_token: jwt, token: "a.b.c" }), (url) =>
    client.genAPIToken(accountAt(url, { members }), "c1"),
  );
  expect(found).toEqual({ token: jwt });
});

test.each(["apikey", "apiKey", "X-Api-Key", "token", "JWT", "Authorization"])(
  "the query of an asynchronous request must not have %s",
  async (name) => {
    const server = await startProviderServer(answering({}));
    const given = { idConference: "c1", parameters: { [name]: "s" } };
    const error = await errorOf(client.getAsyncRequestInfo(accountAt(server.url), given));
    await server.close();
    expect(meaningOf(error)).toBe(protocol);
    expect(server.received).toEqual([]);
  },
);

test.each([["a@example.com,b@example.com"], [""], [" "]])(
  "the address %j would mean something else, so it is not sent",
  async (email) => {
    const server = await startProviderServer(answering({}));
    const emails = ["ops@example.com", email];
    const call = client.registerAlertEmail(accountAt(server.url), { processId: "p1", emails });
    expect(meaningOf(await errorOf(call))).toBe(protocol);
    await server.close();
    expect(server.received).toEqual([]);
  },
);

test("an account without pointers claims nothing but the conference's id", async () => {
  const shown = { idConference: "c1", state: "closed", verdict: "verified", status: "done" };
  const of = { idConference: "c1", token: new Secret(jwt) };
  const { body, ...claims } = await meeting(answering(shown), (url) =>
    client.conferenceData(accountAt(url), of),
  );
  expect(claims).toEqual({ idConference: "c1" });
  expect(JSON.parse(body.toString())).toEqual(shown);
  const info = await meeting(answering(shown), (url) =>
    client.getAsyncRequestInfo(accountAt(url), { idConference: "c1" }),
  );
  expect(info).toEqual({});
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
  const of = { idConference: "c1", token: new Secret(jwt) };
  const read = (body: object) =>
    meeting(answering(body), (url) =>
      client.conferenceData(accountAt(url, { pointers, words }), of),
    );
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

test("conference data of more than a megabyte are not read", async () => {
  const large = JSON.stringify({ idConference: "c1", more: "x".repeat(2_000_000) });
  const error = await errorAt(answering(large), (url) => calls.conferenceData(accountAt(url)));
  expect(error).toMatchObject({ kind: "protocol", effect: "none", code: "ANSWER_TOO_LARGE" });
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
  const of = { idConference: "c1", token: new Secret(jwt) };
  const found = await meeting(answering(bytes, 200, { "content-type": "application/x" }), (url) =>
    client.getAuditData(accountAt(url), of, inMemory),
  );
  expect(found.mediaType).toBe(mediaType);
});

test.each(all)("a token that a refusal of %s shows of itself is not kept", async (operation) => {
  const other = `eyJhbGciOiJub25lIn0.${"x".repeat(30)}.sig`;
  for (const body of [{ message: `use ${other}`, code: other }, `<p>${other}</p>`, { at: other }]) {
    const error = await errorAt(answering(body, 403), (url) => calls[operation](accountAt(url)));
    expect(error.detail).toContain("[secret]");
    expect(inspect(error, { depth: 9, getters: true, showHidden: true })).not.toContain("xxx");
  }
});

test.each([404, 410])("a %i of a deletion is success only where it is repeated", async (status) => {
  const deletion = (isRepetition: boolean) => (url: string) =>
    client.deleteAuditData(accountAt(url), {
      idConference: "c1",
      token: new Secret(jwt),
      isRepetition,
    });
  expect(await meeting(answering("", status), deletion(true))).toBeUndefined();
  expect(meaningOf(await errorAt(answering("", status), deletion(false)))).toBe(protocol);
  expect(meaningOf(await errorAt(answering("", 500), deletion(true)))).toBe(away);
});
