// The client against the fixtures of P1 §2.7, §4.2, §5.2, §6.1, which the sandbox meets too.
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseAccountCallback } from "../../../src/providers/video-identification/callback.js";
import * as client from "../../../src/providers/video-identification/client.js";
import type { VideoIdentificationAccount } from "../../../src/providers/video-identification/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { sendAnswer } from "../fixture-answer.js";
import { requestDifferences } from "../fixture-request.js";
import { inMemory } from "../memory-keep.js";
import { serverOfEachTest } from "../provider-server.js";
import { accountAt, apiKey, jwt, pointers } from "./account.js";

type VideoOperation = Operation<"video-identification">;

const server = serverOfEachTest();

const valuesOf = (): Values => ({ apiKey, token: jwt, newToken: jwt, idConference: "c1" });

test.each(fixturesOf("client", "video-identification", "operation"))("%s", async (_, fixture) => {
  const values = valuesOf();
  const request = fill(fixture["request"], values);
  server.answer = (__, answer) => sendAnswer(answer, fill(fixture["response"], values));
  const account = accountAt(server.url, { pointers, ...settingsOf(fixture) });
  const call = perform(fixture["operation"], account, fixture, request);
  if (fixture["error"])
    expect(await errorOf(call)).toMatchObject({
      ...fixture["error"],
      operation: fixture["operation"],
      status: fixture["response"].status,
    });
  else expect(await call).toEqual(fill(fixture["result"], values));
  expect(server.received).toHaveLength(1);
  const [received] = server.received;
  // A request without its credential cannot be said in our types.
  if (fixture["given"].account !== "noCredential")
    expect(await requestDifferences(request, received!, values)).toEqual([]);
});

test.each(fixturesOf("client", "video-identification", "event"))("%s", (_, fixture) => {
  const values = valuesOf();
  const body = fill(fixture["body"], values);
  const { event, reference, secret } = parseAccountCallback(body, new Date(), undefined);
  const at = new Date(body.date).toISOString();
  const id = secret === undefined && body.Identifier;
  expect(event).toEqual({
    id: id || expect.stringMatching(/^[0-9a-f]{64}$/),
    kind: fixture["event"],
    at,
  });
  expect(reference).toBe("c1");
  expect(secret).toBe(fill(fixture["secret"], values));
});

/** JSON has no undefined: what a fixture leaves out of the pointers is not there. */
function settingsOf({ settings = {} }: Fixture): Partial<VideoIdentificationAccount> {
  const { conferenceParameter = "idConference", pointers: own = pointers } = settings;
  const none = { conference: undefined, state: undefined, verdict: undefined };
  return {
    conferenceParameter: conferenceParameter ?? undefined,
    pointers: { ...none, asyncState: undefined, ...own },
  };
}

async function perform(
  operation: VideoOperation,
  account: VideoIdentificationAccount,
  { isRepetition = false, mediaType }: Fixture,
  { query = {}, body }: any,
): Promise<unknown> {
  const idConference = "c1";
  const of = { idConference, token: new Secret(jwt) };
  switch (operation) {
    case "genAPIToken":
      return client.genAPIToken(account, idConference);
    case "rejectCall":
      return client.rejectCall(account, { idConference, fields: body });
    case "getAsyncRequestInfo": {
      const parameters = query.idConference === undefined ? { parameters: query } : {};
      return client.getAsyncRequestInfo(account, { idConference, ...parameters });
    }
    case "registerAlertEmail": {
      const emails = body.email === "" ? [] : body.email.split(",");
      return client.registerAlertEmail(account, { processId: body.processId, emails });
    }
    case "conferenceData": {
      const { body: data, ...shown } = await client.conferenceData(account, of);
      expect(JSON.parse(data.toString())).toBeInstanceOf(Object);
      return shown;
    }
    case "getAuditData": {
      const { file, mediaType: found } = await client.getAuditData(account, of, inMemory);
      expect(found).toBe(mediaType);
      expect((await buffer(file.pieces())).length).toBe(file.size);
      return undefined;
    }
    case "deleteAuditData":
      return client.deleteAuditData(account, { ...of, isRepetition });
  }
}
