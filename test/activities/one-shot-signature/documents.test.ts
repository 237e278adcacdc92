// The documents of a signature request: checked before any effect, missed later, compared with what was signed, and deleted at the
// provider only once all copies are here (P1 §1.4; docs/design.md §8).
import { expect, test } from "vitest";
import type { DocumentReference, SignOneShotInput } from "../../../src/client.js";
import * as oneShot from "../../../src/providers/one-shot-signature/client.js";
import { uploadId } from "../../../src/documents/document-id.js";
import { absentPdf, noPdf } from "../../harness/documents/open-store.js";
import { codeFor } from "../../processes/issue-certificate/inputs.js";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import { signerInput, videoInput } from "../../processes/sign-one-shot/inputs.js";
import { openBench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(openBench);

test.each([
  ["a document that is not in the store", "documents.1.document", absentPdf],
  ["a PDF that is none", "documents.1.document", noPdf],
  ["an evidence that is not in the store", "identityVideo.evidences.0.document", absentPdf],
  ["a video that is not in the store", "identityVideo.video.document", absentPdf],
])("%s is refused before any effect, and is named", async (_, path, file) => {
  const input = videoInput("unusable");
  const [part, ...places] = path.split(".").toReversed();
  const holder = places.reduceRight((at, place) => at[place], input as any);
  holder[part!] = file;
  const prepared = bench.run("unusable", (all) => all.prepare({ input, mode: "quick" }));
  await expect(prepared).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path }] }],
  });
});

test("documents that cannot be fetched are not deleted: the input is refused, and the field named", async () => {
  const input = signerInput("undeletable", "", { account: "blind", deleteDocuments: true });
  const prepared = bench.run("undeletable", (all) => all.prepare({ input, mode: "quick" }));
  const problem = expect.stringContaining("cannot fetch the signed");
  await expect(prepared).rejects.toMatchObject({
    details: [{ fields: [{ path: "deleteDocuments", problem }] }],
  });
});

const missing = (operation: string) => ({
  type: "protocol",
  details: [{ operation, code: "our-document-is-not-in-the-document-store" }],
});

test("a document that vanishes once the request exists is a person's matter, until it is back", async () => {
  const intent = "vanished";
  const { run, call, created, hide } = bench;
  const { plan, request, upload } = await created(intent, videoInput(intent));
  const { evidences: files, video: file } = plan.identityVideo!;
  const step = (name: string) => ({ ...call(name), ...request });
  await run(intent, (all) => all.createVideo({ ...step("createVideo"), fields: {} }));
  const calls: [string, DocumentReference, () => Promise<void>][] = [
    ["uploadDocument", plan.documents[1]!.document!, () => upload(1)],
    [
      "uploadEvidences",
      files[0]!.document,
      () => run(intent, (all) => all.uploadEvidences({ ...step("uploadEvidences"), files })),
    ],
    [
      "uploadVideo",
      file.document,
      () => run(intent, (all) => all.uploadVideo({ ...step("uploadVideo"), file })),
    ],
  ];
  for (const [operation, document, send] of calls) {
    const bringBack = await hide(document);
    await expect(send()).rejects.toMatchObject(missing(operation));
    expect(bench.count(intent, operation)).toBe(0);
    await bringBack();
    await send();
    expect(bench.count(intent, operation)).toBe(1);
  }
});

/** Signed with the code that the signer received; `before`: what happens just before. */
async function signed(intent: string, input: SignOneShotInput, before?: (pk: string) => unknown) {
  const { run, call, created } = bench;
  const { plan, request, upload } = await created(intent, input);
  for (const index of plan.documents.keys()) await upload(index);
  await run(intent, (all) => all.sendOtp({ ...call("otp"), ...request }));
  await before?.(request.requestPk);
  const otp = await codeFor(bench.control, intent);
  await run(intent, (all) => all.sign({ ...call("sign"), ...request, otp }));
  const files = plan.documents.map(({ name, sha256 }) => ({ name, sha256 }));
  return {
    request,
    files,
    fetchSigned: () =>
      run(intent, (all) => all.fetchSigned({ ...request, files, mode: "quick" as const })),
    remove: (copies: DocumentReference[]) =>
      run(intent, (all) =>
        all.deleteDocuments({ ...call("deleteDocuments"), ...request, signed: copies }),
      ),
    isShown: () =>
      oneShot.retrieve(bench.account, request.requestPk).then(
        ({ documents }) => documents.length > 0,
        () => false,
      ),
  };
}

test("two documents with the same content stay two, each under its name", async () => {
  const document = { base64: letterPdf.toString("base64"), mediaType: "application/pdf" };
  const documents = ["original.pdf", "copy.pdf"].map((name) => ({ name, document }));
  const input = signerInput("alike", "same-bytes", { documents });
  const { request, files, fetchSigned } = await signed("alike", input);
  const more = [...files, { name: "third.pdf", sha256: files[0]!.sha256 }];
  const early = { type: "notVisibleYet", message: expect.stringContaining("2 of 3 signed") };
  await expect(
    bench.run("alike", (all) => all.fetchSigned({ ...request, files: more, mode: "quick" })),
  ).rejects.toMatchObject(early);
  const kept = await fetchSigned();
  expect(kept.map(({ kind, description }) => [kind, description])).toEqual([
    ["signed", "original.pdf"],
    ["signed", "copy.pdf"],
  ]);
  expect(new Set(kept.map(({ document: { sha256 } }) => sha256)).size).toBe(1);
  for (const { document: copy } of kept)
    expect((await bench.documents.get(copy)).subarray(0, 5).toString()).toBe("%PDF-");
});

test("a document whose name the provider keeps in another Unicode form is ours, under our name", async () => {
  const name = "caf\u00e9.pdf";
  const document = { base64: letterPdf.toString("base64"), mediaType: "application/pdf" };
  const input = signerInput("composed", "", { documents: [{ name, document }] });
  const { request, files } = await signed("composed", input);
  const decomposed = files.map((file) => ({ ...file, name: file.name.normalize("NFD") }));
  const kept = await bench.run("composed", (all) =>
    all.fetchSigned({ ...request, files: decomposed, mode: "quick" }),
  );
  expect(kept).toMatchObject([{ kind: "signed", description: "cafe\u0301.pdf" }]);
});

test("what was signed in place of ours is not taken for it", async () => {
  const replace = (requestPk: string) => {
    const other = { bytes: Buffer.from("of another person"), mediaType: "application/pdf" };
    return oneShot.uploadDocument(bench.account, { requestPk, name: "agreement.pdf", ...other });
  };
  const { fetchSigned } = await signed("replaced", signerInput("replaced"), replace);
  await expect(fetchSigned()).rejects.toMatchObject({ type: "protocol" });
});

test("nothing is deleted while a copy is missing; then once, and a later run finds the copies from before", async () => {
  const { fetchSigned, remove, isShown } = await signed("deleted", signerInput("deleted"));
  const kept = await fetchSigned();
  const copies = kept.map(({ document }) => document);
  const bringBack = await bench.hide(copies[0]!);
  await expect(remove(copies)).rejects.toMatchObject(missing("deleteDocuments"));
  expect(await isShown()).toBe(true);
  await bringBack();
  await remove(copies);
  expect(await isShown()).toBe(false);
  // Another version, before the storing of which a worker was killed.
  await bench.own("deleted", { id: uploadId(), kind: "signed" });
  expect(await fetchSigned()).toEqual(kept);
  await remove(copies);
  expect(await bench.requests("deleteDocuments")).toBe(1);
});

test("a 404 of a deletion is its success only where an earlier one may have deleted", async () => {
  const { fetchSigned, remove, isShown } = await signed("gone", signerInput("gone"));
  const copies = (await fetchSigned()).map(({ document }) => document);
  const operation = "one-shot-signature.deleteDocuments";
  // What the provider has answered is no repetition.
  bench.sandbox.faults.add({ operation, kind: "reject", status: 404, times: 2 });
  for (const _ of [1, 2]) await expect(remove(copies)).rejects.toMatchObject({ type: "protocol" });
  expect(await isShown()).toBe(true);
  bench.sandbox.faults.add({ operation, kind: "cut" });
  await expect(remove(copies)).rejects.toMatchObject({ type: "unavailable" });
  bench.sandbox.faults.add({ operation, kind: "reject", status: 429, times: 1 });
  await expect(remove(copies)).rejects.toMatchObject({ type: "rateLimited" });
  await remove(copies);
  expect(await isShown()).toBe(false);
});

test("while it is not known whether a code has signed, another code signs nothing", async () => {
  const intent = "tried";
  const { request, upload } = await bench.created(intent, signerInput(intent));
  await upload(0);
  await bench.run(intent, (all) => all.sendOtp({ ...bench.call("otp"), ...request }));
  const sign = (occurrence: string) =>
    bench.run(intent, (all) =>
      all.sign({ ...bench.call("sign", occurrence), ...request, account: "blind", otp: "000000" }),
    );
  bench.sandbox.faults.add({ operation: "one-shot-signature.sign", kind: "cut" });
  const before = await bench.requests("sign");
  expect(await sign("update-1")).toMatchObject({ verdict: "unknown", isOpen: true });
  const open = { verdict: "unknown", isOpen: true, occurrence: "update-1" };
  expect(await sign("update-2")).toEqual(open);
  expect(await bench.requests("sign")).toBe(before + 1);
});
