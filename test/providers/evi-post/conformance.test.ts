// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parseCallback } from "../../../src/providers/evi-post/callback.js";
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory, withBytes } from "../memory-keep.js";
import type { EviPostAccount } from "../../../src/providers/evi-post/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { fill, loadFixtures, matches } from "../../harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../harness/fixtures/fixtures.js";
import { sendAnswer } from "../fixture-answer.js";
import { requestDifferences } from "../fixture-request.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";
import { accountAt, errorOf } from "./account.js";

const fixtures = loadFixtures(join("test", "fixtures", "evi-post")).filter(
  ({ side }) => side !== "sandbox",
);
const named = (fixture: Fixture) =>
  [`${fixture.title} (${fixture.section}, ${fixture.file})`, fixture] as const;

describe("an exchange", () => {
  test.each(fixtures.filter(({ call }) => call !== undefined).map(named))(
    "%s",
    async (_, fixture) => {
      const values: Values = {};
      const { response } = fixture;
      const server = await startProviderServer((_request, answer) =>
        sendAnswer(answer, fill(response, values)),
      );
      try {
        const baseUrl = response.cut === "refused" ? await refusingUrl() : server.url;
        const account = accountAt(baseUrl, {
          timeoutMs: response.cut === "never" ? 300 : 5000,
          affidavits: { ...accountAt("").affidavits, ...fixture["given"]?.download },
        });
        const call = perform(fixture["operation"], account, fill(fixture["call"], values));
        if (fixture["error"] === undefined) {
          const extra = fixture["resultExtra"] === true;
          expect(matches(fixture["result"], await call, { values, extra })).toEqual([]);
        } else {
          const error = await errorOf(call);
          expect(matches(fixture["error"], error, { values, extra: true })).toEqual([]);
        }
        // A submission without a document cannot be said in our types; its refusal can still be read.
        const sayable =
          fixture["call"].submission === undefined || "document" in fixture["call"].submission;
        if (response.cut !== "refused" && sayable) {
          expect(server.received).toHaveLength(1);
          expect(await requestDifferences(fixture["request"], server.received[0]!, values)).toEqual(
            [],
          );
        }
      } finally {
        await server.close();
      }
    },
  );
});

describe("a callback", () => {
  test.each(fixtures.filter(({ body }) => body !== undefined).map(named))(
    "%s",
    async (_, fixture) => {
      const values: Values = {};
      const body = fill(fixture["body"], values);
      if (fixture["unreadable"] === true) {
        const error = await errorOf(Promise.resolve().then(() => parseCallback(body)));
        expect(error).toMatchObject({ kind: "protocol", effect: "none", operation: "callback" });
        return;
      }
      const { event, correlation } = parseCallback(body);
      expect(matches(fixture["event"], event, { values })).toEqual([]);
      expect(correlation).toEqual(fixture["correlation"]);
      expect(ProviderEvent.parse(event)).toEqual(event);
    },
  );
});

async function perform(operation: string, account: EviPostAccount, call: any): Promise<unknown> {
  switch (operation) {
    case "submit": {
      const { submission, idempotencyToken } = call;
      const answer = submission.options?.evidenceAccessControlChallengeResponse;
      if (answer !== undefined)
        submission.options.evidenceAccessControlChallengeResponse = new Secret(answer);
      const document = Buffer.from(submission.document ?? "", "base64");
      return client.submit(account, { ...submission, document }, idempotencyToken);
    }
    case "query":
      return client.query(account, call);
    case "affidavitRequest":
      return client.requestAffidavit(account, call);
    case "cancel":
      return client.cancel(account, call);
    case "affidavitDownload":
      return withBytes(await client.downloadAffidavits(account, call.ids, inMemory));
    default:
      throw new Error(`unknown operation ${operation}`);
  }
}
