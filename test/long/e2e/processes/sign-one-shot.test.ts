// The everyday paths of a one-shot signature on the whole system, in its four variants (P1 §1.4, 4.4, 6.2;
// docs/reading-the-specification.md §7).
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { trustflow } from "../../../cli/run.js";
import { codeFor, wrongCode } from "../../../processes/issue-certificate/inputs.js";
import { hideDocument } from "../../../harness/documents/hidden-document.js";
import { answerLate } from "../../../harness/stack/late-answer.js";
import { letterPdf } from "../../../processes/send-postal/inputs.js";
import { eventually } from "../../../harness/outages/wait.js";
import { namedDocuments, ownedDocuments } from "../../../harness/documents/owned-documents.js";
import { signerInput, videoDecision, videoInput } from "../../../processes/sign-one-shot/inputs.js";
import { callbackAddress } from "../../../harness/stack/inbox.js";
import { resetToTheStart } from "../../../harness/stack/reset.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;
let webhookUrl: string;

beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: 300,
    env: { TRUSTFLOW_RELAY__UNMATCHED_SECONDS: "1" },
  });
  // The service is told one address for the account (P1 §6.2).
  webhookUrl = callbackAddress(system, { provider: "one-shot-signature", account: "default" });
  await system.sandbox.putAccount("sandbox", { webhookUrl });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.replace("one-shot-signature.", ""),
      count,
    ]),
  );
const duplicates = async () => (await system.sandbox.ledger()).duplicates;

test("classic: each document is uploaded once, and what was signed is kept under its own hash", async () => {
  const input = signerInput("classic");
  const handle = await system.client.signOneShot("classic", input);
  const code = await codeFor(system.sandbox, "classic");
  expect(await handle.submitOtp(wrongCode(code))).toEqual({ answer: "wrong", triesLeft: 4 });
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: "signed", otpsSent: 1 });
  const kinds = result.documents.map(({ kind, description }) => [kind, description]);
  expect(kinds).toEqual([
    ["contract", "contract"],
    ["signed", "agreement.pdf"],
    ["signed", "annex.pdf"],
  ]);
  const owned = await ownedDocuments(system, handle);
  expect(owned).toEqual(expect.arrayContaining(namedDocuments(result.documents)));
  const submitted = owned.filter((one) => one.startsWith("submitted "));
  expect(submitted).toHaveLength(input.documents.length);
  expect(owned).toHaveLength(input.documents.length + result.documents.length);
  for (const { document } of result.documents) {
    const bytes = await system.client.documents.get(document);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(document.sha256);
    expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
  }
  expect(await effectsOf("classic")).toMatchObject({ create: 1, uploadDocument: 2, sign: 1 });
  expect(await duplicates()).toEqual([]);
});

test("two documents with the same content stay two in the result, each under its name", async () => {
  const document = { base64: letterPdf.toString("base64"), mediaType: "application/pdf" };
  const documents = ["original.pdf", "copy.pdf"].map((name) => ({ name, document }));
  const input = signerInput("alike", "same-bytes", { documents });
  const handle = await system.client.signOneShot("alike", input);
  await handle.submitOtp(await codeFor(system.sandbox, "alike"));
  const { documents: kept } = await handle.result();
  const signed = kept.filter(({ kind }) => kind === "signed");
  expect(signed.map(({ description }) => description)).toEqual(["original.pdf", "copy.pdf"]);
  expect(new Set(signed.map(({ document: { sha256 } }) => sha256)).size).toBe(1);
  for (const { document: stored } of signed)
    expect(await system.client.documents.get(stored)).toHaveLength(stored.size);
});

/** The answer to a question about the documents of the intent's request. */
async function shownDocuments(intent: string): Promise<number> {
  const [item] = (await system.sandbox.items({ intent })).items;
  const url = `${system.stack.sandboxUrl}/oneshot/api/v1/document/${item?.id}`;
  return (await fetch(url, { headers: { authorization: "Token sandbox-token" } })).status;
}

const deleting = { deleteDocuments: true } as const;

test("the documents are deleted at the provider once what was signed is kept, if the input says so", async () => {
  const handle = await system.client.signOneShot("deleted", signerInput("deleted", "", deleting));
  await handle.submitOtp(await codeFor(system.sandbox, "deleted"));
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: "signed", documentsDeleted: true });
  expect(await shownDocuments("deleted")).toBe(404);
  expect(await effectsOf("deleted")).toMatchObject({ sign: 1, deleteDocuments: 1 });
  for (const { document } of result.documents)
    expect(await system.client.documents.get(document)).toHaveLength(document.size);
  expect(result.timeline.map(({ event }) => event)).toContain("Documents deleted at the provider");
});

test("without that word nothing is deleted", async () => {
  const handle = await system.client.signOneShot("kept", signerInput("kept"));
  await handle.submitOtp(await codeFor(system.sandbox, "kept"));
  expect(await handle.result()).not.toHaveProperty("documentsDeleted");
  expect(await shownDocuments("kept")).toBe(200);
});

test("a reset after the deletion finds what was kept, and deletes nothing again", async () => {
  const input = signerInput("reset", "async", { variant: "asynchronous", ...deleting });
  const handle = await system.client.signOneShot("reset", input);
  await handle.submitOtp(await codeFor(system.sandbox, "reset"));
  const before = await handle.result();
  expect(before.documentsDeleted).toBe(true);
  await resetToTheStart(system, handle.workflowId);
  const after = await system.client.handle(handle.workflowId as `signOneShot/${string}`).result();
  expect(after).toMatchObject({ outcome: "signed", documentsDeleted: true });
  expect(after.documents).toEqual(expect.arrayContaining(before.documents));
  expect(await effectsOf("reset")).toMatchObject({ sign: 1, deleteDocuments: 1 });
  expect(await duplicates()).toEqual([]);
});

test("nothing is deleted while a copy of what was signed is missing", async () => {
  const id = "copy-missing";
  const away = await system.sandbox.addFault({
    ...{ operation: "one-shot-signature.deleteDocuments", kind: "reject", status: 503 },
    ...{ times: "always", lookupKey: id },
  });
  const handle = await system.client.signOneShot(id, signerInput(id, "", deleting));
  await handle.submitOtp(await codeFor(system.sandbox, id));
  const tried = async () =>
    (await system.sandbox.requests()).newest.some(
      ({ operation, intent }) => operation.endsWith("deleteDocuments") && intent === id,
    );
  await eventually("it has tried", tried);
  const owned = await ownedDocuments(system, handle);
  const uri = owned.find((one) => one.startsWith("signed "))?.split(" ")[1] ?? "";
  const bringBack = await hideDocument(system.stack.env, { uri });
  await system.sandbox.removeFault(away.id);
  const asked = await statusWhere(handle, ({ attention }) => attention !== undefined);
  expect(asked.attention).toMatchObject({ kind: "protocol", step: "deleteDocuments" });
  expect(await shownDocuments(id)).toBe(200);
  await bringBack();
  await handle.resolve({ attention: asked.attention!.id, decision: "retry", by: "Ada" });
  expect(await handle.result()).toMatchObject({ documentsDeleted: true });
  expect(await shownDocuments(id)).toBe(404);
});

test("hash: only the digest of a document leaves us", async () => {
  const sha256 = createHash("sha256").update("kept by the caller").digest("hex");
  const input = signerInput("hash", "", {
    variant: "hash",
    documents: [{ name: "kept.pdf", sha256 }],
  });
  const handle = await system.client.signOneShot("hash", input);
  expect(await handle.submitOtp(await codeFor(system.sandbox, "hash"))).toEqual({
    answer: "accepted",
  });
  const { outcome, documents } = await handle.result();
  expect(outcome).toBe("signed");
  expect(documents.map(({ kind }) => kind)).toEqual(["contract", "signed"]);
  expect(await effectsOf("hash")).toMatchObject({ uploadHash: 1, sign: 1 });
});

test("asynchronous: the webhook makes it ask, and where it is lost the poll does (P1 §6.2)", async () => {
  for (const [id, magic] of [
    ["told", "async"],
    ["untold", "async,webhook-lost"],
  ] as const) {
    const input = signerInput(id, magic, { variant: "asynchronous" });
    const handle = await system.client.signOneShot(id, input);
    expect(await handle.submitOtp(await codeFor(system.sandbox, id))).toEqual({
      answer: "accepted",
    });
    const { outcome, timeline, documents } = await handle.result();
    expect([outcome, documents.length]).toEqual(["signed", 3]);
    const heard = timeline.filter(({ source }) => source === "callback").map(({ event }) => event);
    expect(heard).toEqual(id === "told" ? ["signed"] : []);
  }
});

test("an asynchronous signature that fails ends as failed", async () => {
  const input = signerInput("fails", "async-failed", { variant: "asynchronous" });
  const handle = await system.client.signOneShot("fails", input);
  await handle.submitOtp(await codeFor(system.sandbox, "fails"));
  expect((await handle.result()).outcome).toBe("failed");
});

test("video identification: nothing is signed before the video is approved (P1 §1.4)", async () => {
  const handle = await system.client.signOneShot("video", videoInput("video"));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
  expect(await system.sandbox.messages("video")).toEqual([]);
  expect(await handle.decideVideo("approve")).toEqual({ answer: "approved" });
  expect(await handle.submitOtp(await codeFor(system.sandbox, "video"))).toEqual({
    answer: "accepted",
  });
  const { outcome, timeline } = await handle.result();
  expect(outcome).toBe("signed");
  expect(timeline.filter(({ event }) => event === "Identity video uploaded")).toHaveLength(1);
  const { evidences = [] } = videoInput("video").identityVideo ?? {};
  const owned = await ownedDocuments(system, handle);
  expect(owned.filter((one) => one.startsWith("video "))).toHaveLength(evidences.length + 1);
  expect(await effectsOf("video")).toMatchObject({
    createIdentityVideo: 1,
    uploadEvidences: 1,
    uploadVideo: 1,
    approveIdentityVideo: 1,
    sign: 1,
  });
});

test("a video that is cancelled ends it, and one that the provider approves goes on by itself", async () => {
  const cancelled = await system.client.signOneShot("no-video", videoInput("no-video"));
  await statusWhere(cancelled, ({ waitingFor }) => waitingFor === videoDecision);
  expect(await cancelled.decideVideo("cancel")).toEqual({ answer: "cancelled" });
  expect((await cancelled.result()).outcome).toBe("cancelled");
  const approved = await system.client.signOneShot(
    "by-itself",
    videoInput("by-itself", "video-approved"),
  );
  await approved.submitOtp(await codeFor(system.sandbox, "by-itself"));
  expect((await approved.result()).outcome).toBe("signed");
});

test("where the contract has to be accepted, no code goes out before", async () => {
  const settings = { requireContractAccepted: true };
  const handle = await system.client.signOneShot("asked", signerInput("asked", "", { settings }));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the acceptance of the contract");
  expect(await system.sandbox.messages("asked")).toEqual([]);
  expect(await handle.acceptContract(true)).toEqual({ answer: "accepted" });
  await handle.submitOtp(await codeFor(system.sandbox, "asked"));
  expect((await handle.result()).outcome).toBe("signed");

  const refused = await system.client.signOneShot(
    "refused",
    signerInput("refused", "", { settings }),
  );
  await statusWhere(refused, ({ waitingFor }) => waitingFor === "the acceptance of the contract");
  await refused.acceptContract(false);
  expect((await refused.result()).outcome).toBe("contractRefused");
});

test("a signature whose answer was lost is found at the provider, and made once", async () => {
  const handle = await system.client.signOneShot(
    "lost",
    signerInput("lost", "sign=cut-after-commit"),
  );
  expect(await handle.submitOtp(await codeFor(system.sandbox, "lost"))).toEqual({
    answer: "unknown",
  });
  expect((await handle.result()).outcome).toBe("signed");
  expect(await effectsOf("lost")).toMatchObject({ sign: 1 });
});

test("while the outcome of a signature is unknown, no other code is accepted and none is sent (docs/reading-the-specification.md §0)", async () => {
  const handle = await system.client.signOneShot("doubt", signerInput("doubt", "sign=cut"));
  const code = await codeFor(system.sandbox, "doubt");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  expect(await handle.resendOtp()).toEqual({ answer: "limitReached" });
  expect((await effectsOf("doubt"))["sign"]).toBeUndefined();
  const retry = {
    attention: attention?.id ?? "",
    decision: "retry",
    by: "Ada",
    confirmRetry: true,
    note: "the portal shows no signature",
  } as const;
  // While the lease runs, the first one may still be under way.
  const resolves = async () => (await handle.resolve(retry)).answer === "resolved";
  await eventually("the lease is over", resolves);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
  const another = await codeFor(system.sandbox, "doubt", 1);
  expect(await handle.submitOtp(another)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("signed");
});

test("a person's word that an asynchronous signature was begun is not its end (docs/reading-the-specification.md §7)", async () => {
  // There is no look-up at first.
  const away = await system.sandbox.addFault({
    operation: "one-shot-signature.retrieve",
    kind: "reject",
    times: "always",
    lookupKey: "begun",
  });
  const input = signerInput("begun", "async-failed,sign=cut-after-commit", {
    variant: "asynchronous",
  });
  const handle = await system.client.signOneShot("begun", input);
  await handle.submitOtp(await codeFor(system.sandbox, "begun"));
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  const decision = { attention: attention?.id ?? "", decision: "happened", by: "Ada" } as const;
  expect(await handle.resolve(decision)).toEqual({ answer: "resolved" });
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  await system.sandbox.removeFault(away.id);
  expect((await handle.result()).outcome).toBe("failed");
});

test("a code whose refusal comes late leaves nothing in doubt: the signer tries again", async () => {
  const handle = await system.client.signOneShot("refusal", signerInput("refusal", "sign=cut"));
  const code = await codeFor(system.sandbox, "refusal");
  expect(await handle.submitOtp(wrongCode(code))).toEqual({ answer: "unknown" });
  await statusWhere(handle, (status) => status.attention !== undefined);
  const row = { workflowId: handle.workflowId, step: "sign" };
  const answer = { code: "otp_wrong", status: 400, fields: [] };
  await answerLate(system, row, { state: "refused", answer });
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("signed");
});

test("decisions on a video that come at once are one decision (P1 §1.4)", async () => {
  const input = videoInput("decided", "approveIdentityVideo=slow-1500");
  const handle = await system.client.signOneShot("decided", input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
  const answers = await Promise.all([
    handle.decideVideo("approve"),
    delay(300).then(() => handle.decideVideo("approve")),
    delay(300).then(() => handle.decideVideo("cancel")),
  ]);
  expect(answers.map(({ answer }) => answer)).toEqual(["approved", "approved", "notAwaited"]);
});

test.each([
  ["document", "documents.1.document"],
  ["video", "identityVideo.video.document"],
])("a %s that is not in the store fails before any effect, and is named", async (part, path) => {
  const id = `unstored-${part}`;
  const input = videoInput(id);
  const unstored = {
    uri: `document:${"0".repeat(32)}`,
    sha256: "0".repeat(64),
    size: 1,
    mediaType: "application/pdf",
  };
  if (part === "document") input.documents[1] = { name: "annex.pdf", document: unstored };
  else input.identityVideo!.video.document = unstored;
  // As a plain Temporal client starts it: nothing was looked at before.
  const failed = await system.client.temporal.workflow
    .execute("signOneShot", {
      workflowId: `signOneShot/${id}`,
      taskQueue: "trustflow",
      args: [input],
    })
    .catch((error) => error.cause);
  expect(failed).toMatchObject({ type: "InvalidInput", details: [{ fields: [{ path }] }] });
  expect(await effectsOf(id)).toEqual({});
});

test.each([
  ["upload-0", "uploadDocument=reject-400"],
  ["otp", "otp=reject-400"],
])("what is refused once the request exists fails nothing: %s", async (step, magic) => {
  const id = `refused-${step}`;
  const handle = await system.client.signOneShot(id, signerInput(id, magic));
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "protocol", step });
  await handle.resolve({ attention: attention?.id ?? "", decision: "retry", by: "Ada" });
  await handle.submitOtp(await codeFor(system.sandbox, id));
  expect((await handle.result()).outcome).toBe("signed");
  expect(await effectsOf(id)).toMatchObject({ create: 1, uploadDocument: 2, otp: 1, sign: 1 });
});

test("a request whose creation was not answered asks a person, who brings its id", async () => {
  const input = signerInput("uncertain", "create=cut-after-commit");
  const handle = await system.client.signOneShot("uncertain", input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "create" });
  const [item] = (await system.sandbox.items({ intent: "uncertain" })).items;
  const decision = { attention: attention?.id ?? "", decision: "happened", by: "Ada" } as const;
  const result = { requestPk: item?.id ?? "" };
  expect(await handle.resolve({ ...decision, result })).toEqual({ answer: "resolved" });
  await handle.submitOtp(await codeFor(system.sandbox, "uncertain"));
  expect((await handle.result()).outcome).toBe("signed");
  expect(await effectsOf("uncertain")).toMatchObject({ create: 1, sign: 1 });
});

test("the webhook: doubled it counts once, forged it is refused, unmatched it is parked (docs/reading-the-specification.md §6)", async () => {
  const input = signerInput("doubled", "async,webhook-doubled", { variant: "asynchronous" });
  const handle = await system.client.signOneShot("doubled", input);
  await handle.submitOtp(await codeFor(system.sandbox, "doubled"));
  const { timeline } = await handle.result();
  expect(timeline.filter(({ source }) => source === "callback")).toHaveLength(1);
  const strange = { event: "signed", request_pk: "of-nobody", date: new Date().toISOString() };
  const body = JSON.stringify(strange);
  expect((await fetch(webhookUrl, { method: "POST", body })).status).toBe(204);
  const parked = await eventually("the unmatched one is parked", async () => {
    const { stdout } = await trustflow(["callbacks", "parked", "--json"], {
      env: system.stack.env,
    });
    return (JSON.parse(stdout) as { reason: string }[])[0];
  });
  expect(parked).toMatchObject({ provider: "one-shot-signature", reason: "unmatched" });

  const forged = webhookUrl.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  expect((await fetch(forged, { method: "POST", body })).status).toBe(404);
  expect(await duplicates()).toEqual([]);
});

test("what was signed in place of ours is not taken for it", async () => {
  const handle = await system.client.signOneShot("replaced", signerInput("replaced"));
  const code = await codeFor(system.sandbox, "replaced");
  const [item] = (await system.sandbox.items({ intent: "replaced" })).items;
  const form = new FormData();
  form.append("file", new File(["of another person"], "agreement.pdf"));
  const { status } = await fetch(
    `${system.stack.env["TRUSTFLOW_ACCOUNTS__DEFAULT__ONE_SHOT_SIGNATURE__BASE_URL"]}/oneshot/api/v1/document/${item?.id}`,
    { method: "POST", body: form, headers: { authorization: "Token sandbox-token" } },
  );
  expect(status).toBe(200);
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  const { attention } = await statusWhere(handle, (shown) => shown.attention !== undefined);
  expect(attention).toMatchObject({ kind: "protocol", step: "fetch" });
});

test.each(["upload-1", "uploadEvidences", "uploadVideo"])(
  "a document that vanishes once the request exists asks a person, and fails nothing: %s",
  async (step) => {
    const id = `vanished-${step}`;
    const input = videoInput(id, "video-approved");
    const { evidences, video } = input.identityVideo!;
    const files: Record<string, typeof video> = {
      "upload-1": input.documents[1] as typeof video,
      uploadEvidences: evidences[0]!,
      uploadVideo: video,
    };
    const file = files[step]!;
    const bytes = Buffer.from((file.document as { base64: string }).base64, "base64");
    const document = await system.client.documents.put(bytes, file.document.mediaType);
    file.document = document;
    // Everything is there when the input is checked.
    const busy = await system.sandbox.addFault({
      ...{ operation: "one-shot-signature.create", kind: "reject", status: 429 },
      ...{ retryAfterSeconds: 1, times: "always", lookupKey: id },
    });
    const handle = await system.client.signOneShot(id, input);
    await statusWhere(handle, ({ environment }) => environment !== "unknown");
    const bringBack = await hideDocument(system.stack.env, document);
    await system.sandbox.removeFault(busy.id);
    const asked = await statusWhere(handle, ({ attention }) => attention !== undefined);
    expect(asked.attention).toMatchObject({ kind: "protocol", step });
    expect(asked.attention?.reason).toContain("our-document-is-not-in-the-document-store");
    await bringBack();
    await handle.resolve({ attention: asked.attention!.id, decision: "retry", by: "Ada" });
    await handle.submitOtp(await codeFor(system.sandbox, id));
    expect((await handle.result()).outcome).toBe("signed");
    expect(await effectsOf(id)).toMatchObject({ create: 1, uploadDocument: 2, sign: 1 });
  },
);

const absent = {
  uri: `document:${"0".repeat(32)}`,
  sha256: "0".repeat(64),
  size: 1,
  mediaType: "application/pdf",
};
const noPdf = { base64: "bm8gUERG", mediaType: "application/pdf" };
test.each([
  ["a document that is not in the store", "documents.1.document", absent],
  ["a PDF that is none", "documents.1.document", noPdf],
  ["an evidence that is not in the store", "identityVideo.evidences.0.document", absent],
  ["a video that is not in the store", "identityVideo.video.document", absent],
])("%s fails a plain client's process before any effect, and is named", async (_, path, file) => {
  const id = `unusable-${path}-${"uri" in file ? "absent" : "no-pdf"}`;
  const input = videoInput(id);
  const [part, ...places] = path.split(".").toReversed();
  const holder = places.reduceRight((at, place) => at[place], input as any);
  holder[part!] = file;
  const failed: unknown = await system.client.temporal.workflow
    .execute("signOneShot", {
      workflowId: `signOneShot/${id}`,
      taskQueue: "trustflow",
      args: [input],
    })
    .catch((error: { cause?: unknown }) => error.cause);
  expect(failed).toMatchObject({ type: "InvalidInput", details: [{ fields: [{ path }] }] });
  expect(await effectsOf(id)).toEqual({});
});
