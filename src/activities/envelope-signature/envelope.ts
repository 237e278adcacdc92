// The effects of an envelope, in their order: the certificate's request, the uploads, the envelope itself (P1 §1.5, 2.10, 4.5).
import { contentOf } from "../../documents/content.js";
import { comparedInput } from "../../contracts/definition/compared-input.js";
import { SignEnvelopeInput } from "../../contracts/sign-envelope/contract.js";
import * as hosts from "../../providers/envelope-signature/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { fileOf, ownedDocument } from "../runtime/documents.js";
import { unlessMissing } from "../runtime/missing-document.js";
import { provider } from "./context.js";
import type { EnvelopeContext } from "./context.js";
import type { PlannedDocument } from "./prepare.js";

type ProviderFields = Record<string, unknown>;

export interface CertificateRequested {
  reqPk: string;
  /** A secret: it goes into the envelope, and nowhere else. */
  esawToken: string;
  requestedAt: string;
}

export interface EnvelopeSent {
  envelopeId?: string;
  sentAt: string;
}

const now = () => new Date().toISOString();

/** P1 §4.5, rule 1. The digest covers the whole input, so that another input cannot take over what exists. */
export async function create(
  context: EnvelopeContext,
  { effect, input }: StepCall & { input: SignEnvelopeInput },
): Promise<CertificateRequested> {
  const created = await runEffect(context, effect, {
    operation: "esawoneshot",
    input: comparedInput(SignEnvelopeInput, input, contentOf),
    async send({ signal }): Promise<Partial<CertificateRequested>> {
      const { providerFields } = input.request;
      const answer = await hosts.esawoneshot(context.account, providerFields, signal);
      return { ...answer, requestedAt: now() };
    },
  });
  // An operator's `happened` supplies ids alone, as text or number.
  const { reqPk, esawToken, requestedAt = now() } = created;
  return {
    reqPk: String(reqPk),
    esawToken: context.sealSecret(context.openSecret(String(esawToken))),
    requestedAt,
  };
}

/** P1 §4.5, rule 2. */
export async function upload(
  context: EnvelopeContext,
  { effect, file, path }: StepCall & { account: string; file: PlannedDocument; path: string },
): Promise<{ fileId: string }> {
  const { name, document } = file;
  const uploading = runEffect(context, effect, {
    operation: "uploadFile",
    input: { ...file, document: contentOf(document) },
    documents: [ownedDocument(document, "submitted")],
    prepare: () => fileOf(context.deps.documents, { name, document }, path),
    send: ({ prepared, signal }): Promise<{ fileId: string | number }> =>
      hosts.uploadFile(context.account, prepared, signal),
  });
  const { fileId } = await unlessMissing(provider, "uploadFile", uploading);
  return { fileId: String(fileId) };
}

/** P1 §2.10, §4.5, rule 3. */
export async function send(
  context: EnvelopeContext,
  given: StepCall & {
    account: string;
    esawToken: string;
    envelope: ProviderFields;
    documents: { fileId: string; fields?: ProviderFields | undefined }[];
  },
): Promise<EnvelopeSent> {
  const { effect, envelope, documents } = given;
  const sent = await runEffect(context, effect, {
    operation: "sendEnvelope",
    input: { envelope, documents },
    prepare: () => context.openSecret(given.esawToken),
    async send({
      prepared: esawToken,
      signal,
    }): Promise<{ envelopeId?: string | number; sentAt?: string } | undefined> {
      const outgoing = { documents, esawToken, envelope };
      const answer = await hosts.sendEnvelope(context.account, outgoing, signal);
      return { ...answer, sentAt: now() };
    },
  });
  const { envelopeId, sentAt = now() } = sent ?? {};
  return { ...(envelopeId === undefined ? {} : { envelopeId: String(envelopeId) }), sentAt };
}
