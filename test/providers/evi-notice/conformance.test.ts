// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { buffer } from "node:stream/consumers";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseCallback } from "../../../src/providers/evi-notice/callback.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import type { EviNoticeAccount } from "../../../src/providers/evi-notice/client.js";
import { testCallbacks, testExchanges } from "../evi/shared-tests.js";
import { inMemory, withBytes } from "../memory-keep.js";
import { accountAt } from "./account.js";

testExchanges("evi-notice", ({ baseUrl, timeoutMs }, { operation, call }) =>
  perform(operation, accountAt(baseUrl, { timeoutMs }), call),
);
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
