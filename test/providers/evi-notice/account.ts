// The account that the tests of the notice client use, and one call of each operation.
import * as client from "../../../src/providers/evi-notice/client.js";
import type {
  EviNoticeAccount,
  NoticeSubmission,
} from "../../../src/providers/evi-notice/client.js";
import { inMemory } from "../memory-keep.js";
import { defaultAccount } from "../default-account.js";
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
const [id, batchId, attachmentId] = [noticeId, noticeId, noticeId];
const csv = Buffer.from("address;legalname\nana@example.com;Ana\n");

export const calls: Record<
  Operation<"evi-notice">,
  (account: EviNoticeAccount) => Promise<unknown>
> = {
  submit: (account) => client.submit(account, submission, "token"),
  get: (account) => client.get(account, { id }),
  query: (account) => client.query(account, { lookupKeys: ["case-1"] }),
  downloadAttachments: (account) => client.downloadAttachments(account, { id }, inMemory),
  downloadAffidavits: (account) => client.downloadAffidavits(account, { id }, inMemory),
  downloadAffidavit: (account) => client.downloadAffidavit(account, { affidavitId: id }, inMemory),
  requestAffidavit: (account) => client.requestAffidavit(account, { id }),
  createBatch: (account) => client.createBatch(account, { description: "June" }),
  queryBatches: (account) => client.queryBatches(account, { limit: 10 }),
  getBatch: (account) => client.getBatch(account, { batchId }),
  updateBatch: (account) => client.updateBatch(account, { batchId, settings: { subject: "S" } }),
  startBatch: (account) => client.startBatch(account, { batchId, state: "Submitted" }),
  deleteBatch: (account) => client.deleteBatch(account, { batchId }),
  setBatchBody: (account) => client.setBatchBody(account, { batchId, html: "<p>Hello</p>" }),
  addRecipients: (account) => client.addRecipients(account, { batchId, csv, hasChallenges: false }),
  queryRecipients: (account) => client.queryRecipients(account, { batchId }),
  deleteRecipients: (account) => client.deleteRecipients(account, { batchId }),
  addBatchAttachment: (account) => client.addBatchAttachment(account, { batchId, attachment }),
  listBatchAttachments: (account) => client.listBatchAttachments(account, { batchId }),
  downloadBatchAttachment: (account) =>
    client.downloadBatchAttachment(account, { batchId, attachmentId }, inMemory),
  deleteBatchAttachment: (account) =>
    client.deleteBatchAttachment(account, { batchId, attachmentId }),
};
