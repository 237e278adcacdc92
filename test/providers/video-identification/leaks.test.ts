// Nothing that travels shows in an error: neither the key, nor the token of a call, nor the data of a person (P1 §5.2;
// docs/reading-the-specification.md §8).
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/video-identification/client.js";
import type { VideoIdentificationAccount } from "../../../src/providers/video-identification/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { inMemory } from "../memory-keep.js";
import { answering } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import { accountAt, apiKey, calls, jwt, withToken } from "./account.js";

type VideoOperation = Operation<"video-identification">;
const all = Object.keys(calls) as VideoOperation[];

/** A token whose parts no error may show. */
const token = new Secret("canary.canary.canary");
const of = { idConference: CANARY, token };

const operations: Record<
  VideoOperation,
  (account: VideoIdentificationAccount) => Promise<unknown>
> = {
  genAPIToken: (account) => client.genAPIToken(account, CANARY),
  rejectCall: (account) =>
    client.rejectCall(account, { idConference: CANARY, fields: { [CANARY]: CANARY } }),
  getAsyncRequestInfo: (account) =>
    client.getAsyncRequestInfo(account, {
      idConference: CANARY,
      parameters: { [CANARY]: CANARY },
    }),
  registerAlertEmail: (account) =>
    client.registerAlertEmail(account, { processId: CANARY, emails: ["canary@example.com"] }),
  conferenceData: (account) => client.conferenceData(account, of),
  getAuditData: (account) => client.getAuditData(account, of, inMemory),
  deleteAuditData: (account) => client.deleteAuditData(account, { ...of, isRepetition: false }),
};

const answer = JSON.stringify({ code: CANARY, message: CANARY, error: CANARY, token: [CANARY] });

test.concurrent.each(Object.entries(operations))("%s leaks nothing", async (_, perform) => {
  const secrets = { apiKey: new Secret(CANARY.replaceAll(/[^\w]/g, "-")), timeoutMs: 400 };
  const broken = await brokenCalls(answer, (baseUrl) => perform(accountAt(baseUrl, secrets)));
  expect(broken.length).toBeGreaterThan(12);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

test.each(all)("what %s was sent with does not come back with a refusal", async (operation) => {
  const secret = withToken.includes(operation) ? jwt : apiKey;
  for (const status of [400, 401, 404, 409, 500]) {
    const body = { code: secret, message: `${secret} was refused` };
    const error = await errorAt(answering(body, status), (url) => calls[operation](accountAt(url)));
    expect(error.detail).toBe("[secret] was refused");
    expect(inspect(error, { depth: 9, getters: true, showHidden: true })).not.toContain(secret);
  }
});

test.each(all)("a token that a refusal of %s shows of itself is not kept", async (operation) => {
  const other = `eyJhbGciOiJub25lIn0.${"x".repeat(30)}.sig`;
  for (const body of [{ message: `use ${other}`, code: other }, `<p>${other}</p>`, { at: other }]) {
    const error = await errorAt(answering(body, 403), (url) => calls[operation](accountAt(url)));
    expect(error.detail).toContain("[secret]");
    expect(inspect(error, { depth: 9, getters: true, showHidden: true })).not.toContain("xxx");
  }
});

test.each(["genAPIToken", "getAsyncRequestInfo", "conferenceData", "getAuditData"] as const)(
  "a broken answer of %s shows nothing of what it holds",
  async (operation) => {
    const broken = `{"error": "maintenance", "token": ["${jwt}"], "name": "Anna Rossi"}`;
    const json = { "content-type": "application/json" };
    const body = operation === "getAuditData" ? '{"error": "Anna Rossi", "code": 1}' : broken;
    const error = await errorAt(answering(body, 200, json), (url) =>
      calls[operation](accountAt(url)),
    );
    expect(error.kind).toBe("protocol");
    expect(error.detail).toBeUndefined();
  },
);
