// Makes the calls of an envelope signature to its two hosts: the certificate's request, the uploads, the envelope (P1 §1.5, 2.10, 4.5, 5.5;
// docs/reading-the-specification.md §0, §7).
import * as hosts from "../../providers/envelope-signature/client.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { SignEnvelopeInput } from "../../contracts/sign-envelope/contract.js";
import type { EnvelopeSettings } from "../../contracts/sign-envelope/contract.js";
import { contentOf } from "../../documents/content.js";
import type { Operation } from "../../providers/registry.js";
import { activitiesOf } from "../runtime/activity.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { checkedReference, fileOf, ownedDocument } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import { ProviderContext, resolved } from "../runtime/provider-context.js";
import type { ProviderDependencies, Place } from "../runtime/provider-context.js";

export const provider = "envelope-signature";

export class EnvelopeContext extends ProviderContext<typeof provider> {
  /** Each host has its own credential and its own outages (P1 §5.5). */
  protected override circuitOf(operation: Operation<typeof provider>): string {
    return `${super.circuitOf(operation)}/${operation === "esawoneshot" ? "ca" : "esign"}`;
  }
}

export interface PlannedDocument {
  name: string;
  document: DocumentReference;
  providerFields?: Record<string, unknown> | undefined;
}

/** It is fixed for the run. */
export interface EnvelopePlan extends Place {
  settings: EnvelopeSettings;
  /** All of them in the document store. */
  documents: PlannedDocument[];
}

/** Before any effect: validates the input, stores each inline document, and checks each stored one. */
export async function prepare(context: EnvelopeContext, given: InputCall): Promise<EnvelopePlan> {
  const { deps } = context;
  const input = context.parse(SignEnvelopeInput, given.input);
  const documents: PlannedDocument[] = [];
  // One after the other: fifty of them may be more than the memory holds.
  for (const [index, file] of input.documents.entries()) {
    const path = `documents.${index}.document`;
    const document = await checkedReference(deps, file.document, "submitted", path);
    documents.push({ ...file, document });
  }
  return {
    ...context.place,
    settings: resolved(deps.defaults.signEnvelope, input.settings),
    documents,
  };
}

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
  const { fileId } = await runEffect(context, effect, {
    operation: "uploadFile",
    input: { ...file, document: contentOf(document) },
    documents: [ownedDocument(document, "submitted")],
    areChecked: true,
    prepare: () => fileOf(context.deps.documents, { name, document }, path),
    send: ({ prepared, signal }): Promise<{ fileId: string | number }> =>
      hosts.uploadFile(context.account, prepared, signal),
  });
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

export function createEnvelopeActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, EnvelopeContext);
  return {
    prepare: activity("prepare", prepare),
    create: activity("esawoneshot", create),
    upload: activity("uploadFile", upload),
    send: activity("sendEnvelope", send),
  };
}
