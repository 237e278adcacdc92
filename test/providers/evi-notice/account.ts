// The account that the tests of the notice client use, and one call of each operation.
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import type {
  EviNoticeAccount,
  NoticeSubmission,
} from "../../../src/providers/evi-notice/client.js";
import { inMemory } from "../memory-keep.js";
import { defaultAccount } from "../default-account.js";
import type { Say } from "../default-account.js";
import type { Operation } from "../../../src/providers/registry.js";

export function accountAt(
  baseUrl: string,
  changes: Partial<EviNoticeAccount> = {},
): EviNoticeAccount {
  return {
    ...defaultAccount("evi-notice", { baseUrl, username: "trustflow", password: "a password" }),
    ...changes,
  };
}

export const submission: NoticeSubmission = {
  subject: "Your contract",
  body: "<p>Read it.</p>",
  recipientAddress: "ana@example.com",
};

export const attachment = {
  fileName: "terms.pdf",
  mimeType: "application/pdf",
  bytes: Buffer.from("%PDF-1.4"),
};

export const noticeId = "5f2c9f0e-2f64-4a3b-8c0d-8f6c3a1b7d21";

export function callsWith(
  say: Say = (text) => text,
): Record<Operation<"evi-notice">, (account: EviNoticeAccount) => Promise<unknown>> {
  const id = say(noticeId);
  const [batchId, attachmentId] = [id, id];
  const csv = Buffer.from(say("address;legalname\nana@example.com;Ana\n"));
  const attached = {
    ...attachment,
    fileName: say(attachment.fileName),
    bytes: Buffer.from(say("%PDF-1.4")),
  };
  const submitted = {
    subject: say(submission.subject),
    body: say(submission.body),
    recipientAddress: say(submission.recipientAddress),
    evidenceAccessControlChallengeResponse: new Secret(say("blue")),
    attachments: [attached],
  };
  return {
    submit: (account) => client.submit(account, submitted, say("token")),
    get: (account) => client.get(account, { id }),
    query: (account) => client.query(account, { lookupKeys: [say("case-1")], owner: say("us") }),
    downloadAttachments: (account) => client.downloadAttachments(account, { id }, inMemory),
    downloadAffidavits: (account) => client.downloadAffidavits(account, { id }, inMemory),
    downloadAffidavit: (account) =>
      client.downloadAffidavit(account, { affidavitId: id }, inMemory),
    requestAffidavit: (account) => client.requestAffidavit(account, { id }),
    createBatch: (account) => client.createBatch(account, { description: say("June") }),
    queryBatches: (account) => client.queryBatches(account, { limit: 10, textSearch: say("June") }),
    getBatch: (account) => client.getBatch(account, { batchId }),
    updateBatch: (account) =>
      client.updateBatch(account, { batchId, settings: { subject: say("S") } }),
    startBatch: (account) => client.startBatch(account, { batchId, state: say("Submitted") }),
    deleteBatch: (account) => client.deleteBatch(account, { batchId }),
    setBatchBody: (account) => client.setBatchBody(account, { batchId, html: say("<p>Hello</p>") }),
    addRecipients: (account) =>
      client.addRecipients(account, { batchId, csv, hasChallenges: false }),
    queryRecipients: (account) => client.queryRecipients(account, { batchId, cursor: say("next") }),
    deleteRecipients: (account) => client.deleteRecipients(account, { batchId }),
    addBatchAttachment: (account) =>
      client.addBatchAttachment(account, { batchId, attachment: attached }),
    listBatchAttachments: (account) => client.listBatchAttachments(account, { batchId }),
    downloadBatchAttachment: (account) =>
      client.downloadBatchAttachment(account, { batchId, attachmentId }, inMemory),
    deleteBatchAttachment: (account) =>
      client.deleteBatchAttachment(account, { batchId, attachmentId }),
  };
}

export const calls = callsWith();
