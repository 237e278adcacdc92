// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseCallback } from "../../../src/providers/evi-notice/callback.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import type { EviNoticeAccount } from "../../../src/providers/evi-notice/client.js";
import { fill, fixturesOf, matches } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { testCallbacks } from "../evi/shared-tests.js";
import { sendAnswer } from "../fixture-answer.js";
import { inMemory, withBytes } from "../memory-keep.js";
import { requestDifferences } from "../fixture-request.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";
import { accountAt } from "./account.js";

describe("an exchange", () => {
  test.each(fixturesOf("client", "evi-notice", "call"))(
    "%s",
    async (_, { response, error, result, operation, ...fixture }) => {
      const values: Values = {};
      const server = await startProviderServer((_request, answer) =>
        sendAnswer(answer, fill(response, values)),
      );
      try {
        const baseUrl = response.cut === "refused" ? await refusingUrl() : server.url;
        const account = accountAt(baseUrl, { timeoutMs: response.cut === "never" ? 300 : 5000 });
        const call = perform(operation, account, fill(fixture["call"], values));
        if (error !== undefined) {
          expect(matches(error, await errorOf(call), { values, extra: true })).toEqual([]);
        } else expect(matches(result, (await call) ?? null, { values })).toEqual([]);
        if (response.cut === "refused") return;
        expect(server.received).toHaveLength(1);
        expect(await requestDifferences(fixture["request"], server.received[0]!, values)).toEqual(
          [],
        );
      } finally {
        await server.close();
      }
    },
  );
});

testCallbacks("evi-notice", parseCallback);

async function perform(operation: string, account: EviNoticeAccount, call: any): Promise<unknown> {
  const bytes = (given: any) => ({ ...given, bytes: Buffer.from(given.bytes, "base64") });
  switch (operation) {
    case "submit": {
      const { submission, idempotencyToken } = call;
      const answer = submission.evidenceAccessControlChallengeResponse;
      if (answer !== undefined)
        submission.evidenceAccessControlChallengeResponse = new Secret(answer);
      if (submission.attachments) submission.attachments = submission.attachments.map(bytes);
      return client.submit(account, submission, idempotencyToken);
    }
    case "addRecipients":
      return client.addRecipients(account, { ...call, csv: Buffer.from(call.csv) });
    case "addBatchAttachment":
      return client.addBatchAttachment(account, { ...call, attachment: bytes(call.attachment) });
    case "downloadAttachments":
      return withBytes(await client.downloadAttachments(account, call, inMemory));
    case "downloadAffidavits":
      return withBytes(await client.downloadAffidavits(account, call, inMemory));
    case "downloadAffidavit":
      return buffer((await client.downloadAffidavit(account, call, inMemory)).pieces());
    case "downloadBatchAttachment":
      return buffer((await client.downloadBatchAttachment(account, call, inMemory)).pieces());
    default: {
      const functions = client as unknown as Record<
        string,
        (account: EviNoticeAccount, call: unknown) => Promise<unknown>
      >;
      const perform = functions[operation];
      if (!perform) throw new Error(`unknown operation ${operation}`);
      return perform(account, call);
    }
  }
}
