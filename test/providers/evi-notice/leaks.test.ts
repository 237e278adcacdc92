// Nothing that travels shows in an error: not the URL, the headers, the body, the secrets or the provider's words.
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseCallback } from "../../../src/providers/evi-notice/callback.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import type { EviNoticeAccount } from "../../../src/providers/evi-notice/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { testUnreadableCallbacks } from "../evi/shared-tests.js";
import { inMemory } from "../memory-keep.js";
import { accountAt } from "./account.js";

const answer = JSON.stringify({
  Type: CANARY,
  Title: CANARY,
  Detail: CANARY,
  RequestId: CANARY,
  stackTrace: CANARY,
  Results: [{ Id: 1, Address: CANARY }],
  Id: CANARY,
});
const id = CANARY;
const [batchId, attachmentId] = [CANARY, CANARY];
const attachment = { fileName: CANARY, mimeType: "text/plain", bytes: Buffer.from(CANARY) };

const calls: Record<Operation<"evi-notice">, (account: EviNoticeAccount) => Promise<unknown>> = {
  submit: (account) =>
    client.submit(
      account,
      {
        subject: CANARY,
        body: CANARY,
        recipientAddress: CANARY,
        evidenceAccessControlChallengeResponse: new Secret(CANARY),
        attachments: [attachment],
      },
      "canary-token",
    ),
  get: (account) => client.get(account, { id }),
  query: (account) => client.query(account, { lookupKeys: [CANARY], owner: CANARY }),
  downloadAttachments: (account) => client.downloadAttachments(account, { id }, inMemory),
  downloadAffidavits: (account) => client.downloadAffidavits(account, { id }, inMemory),
  downloadAffidavit: (account) => client.downloadAffidavit(account, { affidavitId: id }, inMemory),
  requestAffidavit: (account) => client.requestAffidavit(account, { id }),
  createBatch: (account) => client.createBatch(account, { description: CANARY }),
  queryBatches: (account) => client.queryBatches(account, { limit: 1, textSearch: CANARY }),
  getBatch: (account) => client.getBatch(account, { batchId }),
  updateBatch: (account) => client.updateBatch(account, { batchId, settings: { subject: CANARY } }),
  startBatch: (account) => client.startBatch(account, { batchId, state: CANARY }),
  deleteBatch: (account) => client.deleteBatch(account, { batchId }),
  setBatchBody: (account) => client.setBatchBody(account, { batchId, html: CANARY }),
  addRecipients: (account) =>
    client.addRecipients(account, { batchId, csv: Buffer.from(CANARY), hasChallenges: true }),
  queryRecipients: (account) => client.queryRecipients(account, { batchId, cursor: CANARY }),
  deleteRecipients: (account) => client.deleteRecipients(account, { batchId }),
  addBatchAttachment: (account) => client.addBatchAttachment(account, { batchId, attachment }),
  listBatchAttachments: (account) => client.listBatchAttachments(account, { batchId }),
  downloadBatchAttachment: (account) =>
    client.downloadBatchAttachment(account, { batchId, attachmentId }, inMemory),
  deleteBatchAttachment: (account) =>
    client.deleteBatchAttachment(account, { batchId, attachmentId }),
};

test.concurrent.each(Object.entries(calls))("%s leaks nothing", async (_, call) => {
  const credentials = { username: "canary", password: new Secret(CANARY), timeoutMs: 400 };
  const broken = await brokenCalls(answer, (baseUrl) => call(accountAt(baseUrl, credentials)));
  expect(broken.length).toBeGreaterThan(13);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

testUnreadableCallbacks(parseCallback);
