// The documents of an envelope: stored and checked before any effect, and missed later (docs/design.md §8).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEnvelopeActivities } from "../../../src/activities/envelope-signature/index.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { hideDocument } from "../../harness/documents/hidden-document.js";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import { envelopeInput } from "../../processes/sign-envelope/inputs.js";
import { inAttempt, journalWithoutRows as journal } from "../attempts.js";

let directory: string;
let documents: DocumentStore;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "documents-"));
  documents = new DocumentStore(new DirectoryDriver(directory), KeyRing.parse(generateKeyRing()));
});
afterAll(() => rm(directory, { recursive: true }));

function attempt<R>(work: (all: ReturnType<typeof createEnvelopeActivities>) => Promise<R>) {
  const activities = createEnvelopeActivities({
    ...{ environment: "sandbox", journal, documents, patienceMs: 1, unavailableForMs: 60_000 },
    ...{ accounts: { default: { name: "default" } }, defaults: { signEnvelope: {} } },
    digests: { of: JSON.stringify, same: () => true },
    secrets: { open: (text: string) => text },
    circuits: { openError: () => undefined },
  } as never);
  const workflowExecution = { workflowId: "signEnvelope/one", runId: "r" };
  return inAttempt(() => work(activities), { namespace: "default", workflowExecution });
}

const mode = "quick" as const;
const absent = { uri: `document:${"0".repeat(32)}`, sha256: "0".repeat(64), size: 1 };

test.each([
  ["a document that is not in the store", { ...absent, mediaType: "application/pdf" }],
  ["a PDF that is none", { base64: "bm8gUERG", mediaType: "application/pdf" }],
])("%s is refused before any effect, and is named", async (_, document) => {
  const input = envelopeInput("unusable");
  input.documents[1]!.document = document;
  await expect(attempt((all) => all.prepare({ input, mode }))).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path: "documents.1.document" }] }],
  });
});

test("an inline document is stored, and one that vanishes before its upload is a person's matter", async () => {
  const plan = await attempt((all) => all.prepare({ input: envelopeInput("inline"), mode }));
  const [file] = plan.documents;
  expect(await documents.get(file!.document)).toEqual(letterPdf);
  await hideDocument({ TRUSTFLOW_DOCUMENTS__DIRECTORY: directory }, file!.document);
  const effect = { step: "upload-0", occurrence: "0" };
  const call = { effect, mode, account: "default", file: file!, path: "documents.0.document" };
  await expect(attempt((all) => all.upload(call))).rejects.toMatchObject({
    type: "protocol",
    details: [{ code: "our-document-is-not-in-the-document-store" }],
  });
});
