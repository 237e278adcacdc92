// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { parseCallback } from "../../../src/providers/evi-post/callback.js";
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory, withBytes } from "../memory-keep.js";
import type { EviPostAccount } from "../../../src/providers/evi-post/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { testCallbacks, testExchanges } from "../evi/shared-tests.js";
import { accountAt } from "./account.js";

testExchanges("evi-post", ({ baseUrl, timeoutMs }, { operation, call, given }) => {
  const affidavits = { ...accountAt(baseUrl).affidavits, ...given?.download };
  return perform(operation, accountAt(baseUrl, { timeoutMs, affidavits }), call);
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
