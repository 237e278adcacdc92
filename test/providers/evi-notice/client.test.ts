// What the fixtures do not say about the notice client.
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { strToU8, zipSync } from "fflate";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import { errorOf } from "../evi-post/account.js";
import { inMemory, withBytes } from "../memory-keep.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, attachment, calls, noticeId, submission } from "./account.js";

const other = "0b6f3a52-7c1d-4f7e-9a55-1f0c6c1d2e3f";
const batchId = noticeId;

const server = serverOfEachTest();
const account = () => accountAt(server.url);
const sent = () => JSON.parse(server.received[0]?.text ?? "null");

describe("submit", () => {
  test("a secret is revealed in the body alone (P2 §2.6)", async () => {
    server.answer = answering({ Id: noticeId });
    const given = { ...submission, evidenceAccessControlChallengeResponse: new Secret("blue") };
    await client.submit(account(), given, "t");
    expect(sent()["EvidenceAccessControlChallengeResponse"]).toBe("blue");
    expect(JSON.stringify(given)).not.toContain("blue");
  });

  test("members that are not shown travel as they are, and replace none that is", async () => {
    server.answer = answering({ Id: noticeId });
    const providerFields = { NotificationChannel: "Email", Subject: "another one" };
    await client.submit(
      account(),
      { ...submission, providerFields, issuerLegalName: undefined },
      "t",
    );
    expect(sent()).toEqual({
      NotificationChannel: "Email",
      Subject: submission.subject,
      Body: submission.body,
      RecipientAddress: submission.recipientAddress,
    });
  });

  test("attachments go under the names of the account (P2 §2.6, assumed)", async () => {
    server.answer = answering({ Id: noticeId });
    const names = { sent: { attachments: "Files", content: "Bytes" } };
    const given = { ...submission, attachments: [attachment] };
    await client.submit(accountAt(server.url, names), given, "t");
    const Bytes = attachment.bytes.toString("base64");
    expect(sent()["Files"]).toEqual([
      { Filename: "terms.pdf", MimeType: "application/pdf", Bytes },
    ]);
  });

  test("a problem document says its type and the id for the provider's support (P2 §7.2)", async () => {
    const problem = { Status: 400, Type: "urn:a:b", Title: "Bad", RequestId: "r-1" };
    server.answer = answering(problem, 400, { "content-type": "application/problem+json" });
    const error = await errorOf(client.submit(account(), submission, "t"));
    expect(error).toMatchObject({ kind: "invalidRequest", type: "urn:a:b", requestId: "r-1" });
    expect(error.detail).toBe("Bad");
    expect(error.message).toBe("evi-notice submit: answered 400");
  });
});

test("a notice shows its logo, and an attachment its encoding and its content id (P2 §2.7, §2.10)", async () => {
  const attachment = { Id: noticeId, ContentEncoding: "gzip", ContentId: "logo" };
  const listed = { id: noticeId, contentEncoding: "gzip", contentId: "logo" };
  server.answer = answering({
    Id: noticeId,
    State: "Sent",
    CustomLayoutLogoUrl: "https://logo",
    Attachments: [attachment],
  });
  expect(await client.get(account(), { id: noticeId })).toMatchObject({
    customLayoutLogoUrl: "https://logo",
    attachments: [listed],
  });
  server.answer = answering([attachment]);
  expect(await client.listBatchAttachments(account(), { batchId: other })).toEqual([listed]);
});

test("a notice is read by the names that the account gives its id (P2 §2.7, assumed)", async () => {
  server.answer = answering({
    noticeUuid: noticeId,
    State: "Sent",
    Affidavits: [{ NoticeUuid: other }],
  });
  const { members } = account();
  const named = accountAt(server.url, { members: { ...members, id: ["NoticeUuid"] } });
  const notice = await client.get(named, { id: noticeId });
  expect(notice).toMatchObject({ id: noticeId, affidavits: [{ id: other }] });
});

test.each([
  ["an affidavit without an id", { Affidavits: [{}] }],
  ["a lookup key that is no text", { LookupKey: 7 }],
  ["no state", { State: undefined }],
])("%s is never read as absent", async (_, members) => {
  server.answer = answering({ Id: noticeId, State: "Sent", ...members });
  const error = await errorOf(client.get(account(), { id: noticeId }));
  expect(error).toMatchObject({ kind: "protocol", effect: "none" });
});

test.each([
  [{ UniqueId: "a-1", EvidenceUniqueId: noticeId }],
  [{ AffidavitId: "a-1", EvidenceId: noticeId }],
])("an affidavit may be listed by %j (P2 §2.7, assumed)", async (affidavit) => {
  server.answer = answering({ Id: noticeId, State: "Sent", Affidavits: [affidavit] });
  const notice = await client.get(account(), { id: noticeId });
  expect(notice.affidavits).toMatchObject([{ id: "a-1" }]);
});

test("the answer to a challenge is not read back, should a notice show it (P2 §2.6)", async () => {
  const submitted = { EvidenceAccessControlChallengeResponse: "blue", Subject: "S" };
  server.answer = answering({ Results: [{ Id: noticeId, State: "Sent", ...submitted }] });
  expect(await client.query(account(), {})).toEqual({
    results: [{ id: noticeId, state: "Sent", providerFields: { Subject: "S" } }],
  });
});

test("an attachment of a notice needs no id (P2 §2.7)", async () => {
  const attachments = [{ FileName: "terms.pdf", Size: "12" }];
  server.answer = answering({ Id: noticeId, State: "Sent", Attachments: attachments });
  const notice = await client.get(account(), { id: noticeId });
  expect(notice.attachments).toEqual([{ fileName: "terms.pdf", size: 12 }]);
});

test("the counts of a batch may be texts (P2 §2.8 shows no type)", async () => {
  const counts = { SentCount: "12", FailedCount: 0, ProgressPercentage: "37.5" };
  server.answer = answering({ BatchId: batchId, State: "Processing", ...counts });
  expect(await client.getBatch(account(), { batchId })).toMatchObject({
    sentCount: 12,
    failedCount: 0,
    progressPercentage: 37.5,
  });
  server.answer = answering({ BatchId: batchId, State: "Processing", SentCount: "many" });
  const error = await errorOf(client.getBatch(account(), { batchId }));
  expect(error).toMatchObject({ kind: "protocol", effect: "none", member: "SentCount" });
  const id = "0".repeat(8) + batchId.slice(8);
  server.answer = answering({ BatchId: id, State: "Draft" });
  const other = await errorOf(client.getBatch(account(), { batchId }));
  expect(other).toMatchObject({ kind: "protocol", effect: "none", member: "BatchId" });
  expect(other.problem).toContain("`BatchId` is that of another batch");
});

test.each([0, 101, 1.5])("a query with the limit %d is not sent (P2 §8)", async (limit) => {
  const most = limit === 101 ? 1001 : limit;
  const asked = [
    () => client.query(account(), { limit }),
    () => client.queryBatches(account(), { limit }),
    () => client.queryRecipients(account(), { batchId, limit: most }),
  ];
  for (const call of asked)
    expect(await errorOf(call())).toMatchObject({ kind: "protocol", effect: "none" });
  expect(server.received).toEqual([]);
});

test("with an empty list of keys nothing is sent", async () => {
  expect(await client.query(account(), { lookupKeys: [] })).toEqual({ results: [] });
  expect(server.received).toEqual([]);
});

test.each(["", "x".repeat(256)])("a description that is not allowed is not sent", async (text) => {
  for (const call of [
    () => client.createBatch(account(), { description: text }),
    () => client.updateBatch(account(), { batchId, settings: { description: text } }),
  ])
    expect(await errorOf(call())).toMatchObject({ kind: "protocol", effect: "none" });
  expect(server.received).toEqual([]);
});

describe("files", () => {
  test("names in a ZIP of attachments lose their folders, and the bytes stay", async () => {
    const zip = zipSync({ "../../etc/passwd": strToU8("a"), "b.html": strToU8("<html></html>") });
    server.answer = answering(Buffer.from(zip), 200, { "content-type": "application/zip" });
    const files = await client.downloadAttachments(account(), { id: noticeId }, inMemory);
    expect(await withBytes(files)).toEqual([
      { fileName: "passwd", bytes: Buffer.from("a") },
      { fileName: "b.html", bytes: Buffer.from("<html></html>") },
    ]);
  });

  test("a ZIP with more than 500 files is refused", async () => {
    const names = Array.from({ length: 501 }, (_, n) => [String(n), strToU8("")] as const);
    const zip = Buffer.from(zipSync(Object.fromEntries(names)));
    server.answer = answering(zip, 200, { "content-type": "application/zip" });
    const error = await errorOf(client.downloadAttachments(account(), { id: noticeId }, inMemory));
    expect(error).toMatchObject({ kind: "protocol", effect: "none", mismatch: "content" });
  });

  test("an attachment of a batch may be a web page, where it comes as bytes", async () => {
    const page = Buffer.from("<!DOCTYPE html><html>terms</html>");
    server.answer = answering(page, 200, { "content-type": "application/octet-stream" });
    const asked = { batchId, attachmentId: "1" };
    const kept = await client.downloadBatchAttachment(account(), asked, inMemory);
    expect(await buffer(kept.pieces())).toEqual(page);
  });

  test("each type of answer that the specification shows is accepted (P2 §4.2, §4.3, §7.2)", async () => {
    server.answer = answering("terms", 200, { "content-type": "application/octet-stream" });
    await client.downloadBatchAttachment(account(), { batchId, attachmentId: "1" }, inMemory);
    const types = server.received[0]?.headers.accept?.split(", ").toSorted();
    expect(types).toEqual(
      ["json", "octet-stream", "pdf", "problem+json", "zip"].map((type) => `application/${type}`),
    );
  });

  test("the fields of an attachment come before its file, which a server may read as a stream", async () => {
    server.answer = answering({ AttachmentId: "1" });
    await client.addBatchAttachment(account(), {
      batchId,
      attachment: { ...attachment, includeOnAffidavits: true },
    });
    const names = server.received[0]?.text.match(/(?<= name=")\w+/g);
    expect(names).toEqual(["Filename", "MimeType", "IncludeOnAffidavits", "Content"]);
  });

  test("204 says none, and nothing in a 200 is no ZIP (P2 §4.2)", async () => {
    for (const download of [client.downloadAttachments, client.downloadAffidavits]) {
      server.answer = answering("", 204);
      expect(await download(account(), { id: noticeId }, inMemory)).toEqual([]);
      server.answer = answering("", 200, { "content-type": "application/zip" });
      const error = await errorOf(download(account(), { id: noticeId }, inMemory));
      expect(error).toMatchObject({ kind: "protocol", effect: "none", mismatch: "content" });
    }
  });

  test("a file with nothing in it is not there yet", async () => {
    server.answer = answering("", 200, { "content-type": "application/octet-stream" });
    const asked = { batchId, attachmentId: "1" };
    for (const download of [
      client.downloadBatchAttachment(account(), asked, inMemory),
      client.downloadAffidavit(account(), { affidavitId: noticeId }, inMemory),
    ])
      expect(await errorOf(download)).toMatchObject({ kind: "notVisibleYet", effect: "none" });
  });

  test("an attachment's id may be a number (P2 §4.3 shows no type)", async () => {
    server.answer = answering({ AttachmentId: 7 });
    expect(await client.addBatchAttachment(account(), { batchId, attachment })).toEqual({
      attachmentId: "7",
    });
  });
});

describe("recipients", () => {
  const csv = "address;legalname\nana@example.com;Ana\n";

  test("a list goes up from a stream, with its length where it is known", async () => {
    server.answer = answering("");
    const given = { batchId, csv: Readable.from([Buffer.from(csv)]), hasChallenges: false };
    await client.addRecipients(account(), { ...given, bytes: csv.length });
    expect(server.received[0]).toMatchObject({ method: "POST", text: csv });
    expect(server.received[0]?.headers["content-length"]).toBe(String(csv.length));
  });

  test("a stream of unknown length goes up in chunks", async () => {
    server.answer = answering("");
    const parts = csv.match(/.{1,5}|\n/g) ?? [];
    await client.addRecipients(account(), {
      batchId,
      csv: Readable.from(parts.map((part) => Buffer.from(part))),
      hasChallenges: false,
    });
    expect(server.received[0]?.text).toBe(csv);
  });

  test("a stream that breaks ends the call, and nothing counts as added", async () => {
    server.answer = answering("");
    async function* broken() {
      yield Buffer.from(csv);
      throw new Error("the disk is gone");
    }
    const given = { batchId, csv: Readable.from(broken()), hasChallenges: false };
    const error = await errorOf(client.addRecipients(account(), given));
    expect(error).toMatchObject({ kind: "unavailable", operation: "addRecipients" });
  });

  test.each([409, 200])(
    "the words of a %d about answers to challenges are not kept",
    async (status) => {
      server.answer = answering(
        { Type: "urn:list", Detail: "row 1: the answer blue is too short" },
        status,
      );
      const given = { batchId, csv: Buffer.from(csv), hasChallenges: true };
      const error = await errorOf(client.addRecipients(account(), given));
      expect(String(error.detail)).not.toContain("blue");
    },
  );

  test("answers to challenges are not read back (P2 §2.9)", async () => {
    const recipient = { Address: "ana@example.com", CustodyChallengeResponse: "blue", Row: 1 };
    server.answer = answering({ Cursor: "", Results: [recipient] });
    expect(await client.queryRecipients(account(), { batchId })).toEqual({
      results: [{ address: "ana@example.com", providerFields: { Row: 1 } }],
    });
  });

  test.each([null, "", "00000000-0000-0000-0000-000000000000"])(
    "%j is the id of no notice (P2 §2.9)",
    async (EvidenceUniqueId) => {
      const recipient = { Address: "ana@example.com" };
      server.answer = answering({ Results: [{ ...recipient, EvidenceUniqueId }] });
      const { results } = await client.queryRecipients(account(), { batchId });
      expect(results[0]?.evidenceUniqueId).toBeUndefined();
    },
  );

  test.each(["", 0, null, undefined])("the cursor %j ends the list", async (Cursor) => {
    server.answer = answering({ Cursor, Results: [{ Address: "ana@example.com" }] });
    const page = await client.queryRecipients(account(), { batchId });
    expect(page).toEqual({ results: [{ address: "ana@example.com" }] });
  });

  test("a page without recipients is the last one, even with a cursor", async () => {
    server.answer = answering({ Cursor: "again", Results: [] });
    expect(await client.queryRecipients(account(), { batchId })).toEqual({ results: [] });
  });
});

test("settings change what is given and nothing else; what starts a batch is no setting", async () => {
  server.answer = answering("");
  const settings = { subject: "S", timeToLive: undefined, state: "Submitted" };
  await client.updateBatch(account(), { batchId, settings });
  expect(sent()).toEqual({ Subject: "S" });
});

test.each([
  [{ Detail: "line 3 has no address" }, "line 3 has no address"],
  [{}, "the list of recipients failed the validation"],
  ["", "the list of recipients failed the validation"],
])(
  "a list that failed validation is what is wrong, whatever the 409 says: %j",
  async (body, said) => {
    server.answer = answering(body, 409);
    const error = await errorOf(calls.addRecipients(account()));
    expect(error.detail).toBe(said);
  },
);

test.each(["", " ", "{}", "{ }", "[]\n", "null", '""'])(
  "a refusal that says nothing, %j, shows nothing",
  async (body) => {
    server.answer = answering(body, 400);
    expect(await errorOf(calls.submit(account()))).not.toHaveProperty("detail");
    server.answer = answering(`${body} too many`, 400);
    const { detail } = await errorOf(calls.submit(account()));
    expect(detail).toContain("too many");
  },
);
