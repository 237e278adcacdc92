// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { describe, expect, test } from "vitest";
import { parseCallback } from "../../../src/providers/evi-post/callback.js";
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory, withBytes } from "../memory-keep.js";
import type { EviPostAccount } from "../../../src/providers/evi-post/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { fill, fixturesOf, matches } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { testCallbacks } from "../evi/shared-tests.js";
import { sendAnswer } from "../fixture-answer.js";
import { requestDifferences } from "../fixture-request.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";
import { accountAt, errorOf } from "./account.js";

describe("an exchange", () => {
  test.each(fixturesOf("client", "evi-post", "call"))("%s", async (_, fixture) => {
    const values: Values = {};
    const { response } = fixture;
    const server = await startProviderServer((_request, answer) =>
      sendAnswer(answer, fill(response, values)),
    );
    try {
      const baseUrl = response.cut === "refused" ? await refusingUrl() : server.url;
      const account = accountAt(baseUrl, {
        timeoutMs: response.cut === "never" ? 300 : 5000,
        affidavits: { ...accountAt(baseUrl).affidavits, ...fixture["given"]?.download },
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
  });
});

testCallbacks("evi-post", parseCallback);

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
