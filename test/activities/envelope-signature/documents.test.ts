// The documents of an envelope: stored and checked before any effect, and missed later (docs/design.md §8).
import { expect, test } from "vitest";
import { EffectUnknown } from "../../../src/journal/errors.js";
import { createEnvelopeActivities } from "../../../src/activities/envelope-signature/index.js";
import { absentPdf, noPdf, openStore } from "../../harness/documents/open-store.js";
import { hideDocument } from "../../harness/documents/hidden-document.js";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import { envelopeInput } from "../../processes/sign-envelope/inputs.js";
import { depsWithoutRows, inProcess } from "../attempts.js";
import { ofFile } from "../../harness/of-file.js";

const store = ofFile(openStore);

type Activities = ReturnType<typeof createEnvelopeActivities>;

function attempt<R>(work: (all: Activities) => Promise<R>, more: object = {}) {
  const deps = depsWithoutRows(
    { name: "default" },
    {
      ...{ patienceMs: 1, unavailableForMs: 60_000, defaults: { signEnvelope: {} } },
      ...{ documents: store.documents, secrets: { open: (text: string) => text }, ...more },
    },
  );
  return inProcess(() => work(createEnvelopeActivities(deps)));
}

const mode = "quick" as const;

test.each([
  ["a document that is not in the store", absentPdf],
  ["a PDF that is none", noPdf],
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
  expect(await store.documents.get(file!.document)).toEqual(letterPdf);
  await hideDocument({ TRUSTFLOW_DOCUMENTS__DIRECTORY: store.directory }, file!.document);
  const effect = { step: "upload-0", occurrence: "0" };
  const call = { effect, mode, account: "default", file: file!, path: "documents.0.document" };
  await expect(attempt((all) => all.upload(call))).rejects.toMatchObject({
    type: "protocol",
    details: [{ code: "our-document-is-not-in-the-document-store" }],
  });
});

test.each<[keyof Activities, string]>([
  ["create", "esawoneshot"],
  ["upload", "uploadFile"],
  ["send", "sendEnvelope"],
])("of an unknown outcome of %s the failure names the provider's call", async (name, operation) => {
  const unknown = new EffectUnknown(name, "t");
  const journal = { perform: () => Promise.reject(unknown) };
  const file = { name: "a.pdf", document: absentPdf };
  const given = { effect: { step: name, occurrence: "0" }, mode, account: "default", file };
  const more = {
    input: envelopeInput("lost"),
    path: "",
    esawToken: "t",
    envelope: {},
    documents: [],
  };
  const made = attempt<unknown>((all) => all[name]({ ...given, ...more }), { journal });
  await expect(made).rejects.toMatchObject({ type: "unknownOutcome", details: [{ operation }] });
});
