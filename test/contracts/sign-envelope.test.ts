// What the contract of `signEnvelope` takes and refuses, each with the field named (P1 §1.5, 2.10, 4.5; docs/design.md §13).
import { expect, test } from "vitest";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { SignEnvelopeInput } from "../../src/contracts/sign-envelope/contract.js";

const document = { base64: "JVBERi0x", mediaType: "application/pdf" };
const one = { name: "a.pdf", document };
const input = { request: { providerFields: { any: { thing: [1] } } }, documents: [one] };
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${index}.pdf`, document }));

test.each<[string, object]>([
  ["the least there is", input],
  [
    "fifty documents, of any media type",
    {
      ...input,
      documents: many(50).map((file) => ({
        ...file,
        document: { ...document, mediaType: "text/x-own" },
      })),
    },
  ],
  ["an empty request: what it needs is not shown", { ...input, request: { providerFields: {} } }],
  [
    "fields of the envelope and of a document",
    {
      ...input,
      documents: [{ ...one, providerFields: { Page: 1 } }],
      envelope: { providerFields: { Name: "Contract" } },
      settings: { uploadsAtOnce: 1 },
    },
  ],
])("%s is taken", (_, given) => {
  expect(SignEnvelopeInput.parse(given)).toEqual(given);
});

test.each<[string, object]>([
  ["request", { documents: [one] }],
  ["request.providerFields", { ...input, request: {} }],
  ["documents", { ...input, documents: [] }],
  ["documents", { ...input, documents: many(51) }],
  ["documents.1.name", { ...input, documents: [one, one] }],
  ["documents.0.name", { ...input, documents: [{ ...one, name: "../a.pdf" }] }],
  [
    "documents.0.document.base64",
    { ...input, documents: [{ ...one, document: { ...document, base64: "?" } }] },
  ],
  [
    "documents.0.providerFields.FileId",
    { ...input, documents: [{ ...one, providerFields: { FileId: "f1" } }] },
  ],
  [
    "documents.0.providerFields.DocumentNumber",
    { ...input, documents: [{ ...one, providerFields: { DocumentNumber: 1 } }] },
  ],
  [
    "envelope.providerFields.Documents",
    { ...input, envelope: { providerFields: { Documents: [] } } },
  ],
  [
    "envelope.providerFields.Activities",
    { ...input, envelope: { providerFields: { Activities: [] } } },
  ],
  ["envelope.name", { ...input, envelope: { name: "Contract" } }],
  ["settings.uploadsAtOnce", { ...input, settings: { uploadsAtOnce: 0 } }],
])("%s is refused by name", (path, given) => {
  const problems = checkInput(SignEnvelopeInput, given).fields;
  expect(problems.map((problem) => problem.path)).toEqual([path]);
});
