// The activities of the envelope-based one-shot signature, over its two hosts (P1 §1.5, 2.10, 4.5;
// docs/reading-the-specification.md §0, §7).
import { contentOf } from "../../documents/content.js";
import { comparedInput } from "../../contracts/shared/compared-input.js";
import { SignEnvelopeInput } from "../../contracts/sign-envelope.js";
import type { EnvelopeSettings } from "../../contracts/sign-envelope.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { Operation } from "../../providers/effect-classes.js";
import * as client from "../../providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../providers/envelope-signature/client.js";
import { measured } from "../runtime/call-metrics.js";
import type { AttemptMode } from "../runtime/failure.js";
import { checkedReferenceOf, ownedDocument, parseInput, readDocument } from "../runtime/input.js";
import { unlessMissing } from "../runtime/missing-document.js";
import { accountIn, Office, resolved } from "../runtime/provider-context.js";
import type { Attempt, OfficeDependencies } from "../runtime/provider-context.js";

const provider = "envelope-signature";
const hosts = measured(provider, client);

export interface EnvelopeDependencies extends OfficeDependencies<EnvelopeSignatureAccount> {
  settings: EnvelopeSettings;
}

type ProviderFields = Record<string, unknown>;

export interface PlannedDocument {
  name: string;
  document: DocumentReference;
  providerFields?: ProviderFields | undefined;
}

/** What the process does, fixed for the run. */
export interface EnvelopePlan {
  environment: string;
  account: string;
  settings: EnvelopeSettings;
  /** All of them in the document store. */
  documents: PlannedDocument[];
}

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

class EnvelopeOffice extends Office<
  typeof provider,
  EnvelopeSignatureAccount,
  EnvelopeDependencies
> {
  /** Each host has its own credential and its own bad days (P1 §5.5). */
  protected override circuitOf(
    account: EnvelopeSignatureAccount,
    operation?: Operation<typeof provider>,
  ): string {
    return `${super.circuitOf(account)}/${operation === "esawoneshot" ? "ca" : "esign"}`;
  }
}

export function createEnvelopeActivities(dependencies: EnvelopeDependencies) {
  const office = new EnvelopeOffice(provider, dependencies);
  const now = () => new Date().toISOString();

  return {
    /** Validates the input, and sees to it that every document is in the store, as it says: before any effect. */
    prepare({ input, mode }: { input: unknown; mode: AttemptMode }): Promise<EnvelopePlan> {
      return office.run("prepare", accountIn(input), mode, async ({ name }) => {
        const { environment, settings } = office.has;
        const parsed = parseInput(SignEnvelopeInput, input);
        const documents: PlannedDocument[] = [];
        // One after the other: fifty of them may be more than the memory holds.
        for (const [index, given] of parsed.documents.entries()) {
          const path = `documents.${index}.document`;
          const document = await checkedReferenceOf(office.has, given.document, "submitted", path);
          documents.push({ ...given, document });
        }
        return {
          environment,
          account: name,
          settings: resolved(settings, parsed.settings),
          documents,
        };
      });
    },

    /** P1 §4.5, rule 1. The input goes into its digest as a whole, so that no other one takes up what exists. */
    create(given: Attempt & { input: SignEnvelopeInput }): Promise<CertificateRequested> {
      const { effect, mode, input } = given;
      return office.run("create", accountIn(input), mode, async (account) => {
        const created = await office.perform<Partial<CertificateRequested>>(
          account,
          {
            reference: effect,
            operation: "esawoneshot",
            input: comparedInput(SignEnvelopeInput, input, contentOf),
            mode,
          },
          {
            async send({ signal }) {
              const { providerFields } = input.request;
              return {
                ...(await hosts.esawoneshot(account, providerFields, signal)),
                requestedAt: now(),
              };
            },
          },
        );
        // A person's `happened` brings ids alone, as text or number.
        const { reqPk, esawToken, requestedAt = now() } = created;
        return {
          reqPk: String(reqPk),
          esawToken: office.sealSecret(office.openSecret(String(esawToken))),
          requestedAt,
        };
      });
    },

    /** P1 §4.5, rule 2. */
    upload(
      given: Attempt & { account: string; file: PlannedDocument; path: string },
    ): Promise<{ fileId: string }> {
      const { effect, mode, file, path } = given;
      const { name, document } = file;
      return office.run("upload", given.account, mode, async (account) => {
        const sending = office.perform<{ fileId: string | number }>(
          account,
          {
            reference: effect,
            operation: "uploadFile",
            input: { ...file, document: contentOf(document) },
            documents: [ownedDocument(document, "submitted")],
            mode,
          },
          {
            async send({ signal }) {
              const bytes = await readDocument(office.has.documents, document, path);
              const { mediaType } = document;
              return hosts.uploadFile(account, { name, bytes, mediaType }, signal);
            },
          },
        );
        const { fileId } = await unlessMissing(provider, "uploadFile", sending);
        return { fileId: String(fileId) };
      });
    },

    /** P1 §2.10, §4.5, rule 3. */
    send(
      given: Attempt & {
        account: string;
        esawToken: string;
        envelope: ProviderFields;
        documents: { fileId: string; fields?: ProviderFields | undefined }[];
      },
    ): Promise<EnvelopeSent> {
      const { effect, mode, envelope, documents } = given;
      return office.run("send", given.account, mode, async (account) => {
        const sent = await office.perform<
          { envelopeId?: string | number; sentAt?: string } | undefined
        >(
          account,
          {
            reference: effect,
            operation: "sendEnvelope",
            input: { envelope, documents },
            mode,
          },
          {
            async send({ signal }) {
              const esawToken = office.openSecret(given.esawToken);
              const outgoing = { documents, esawToken, envelope };
              return { ...(await hosts.sendEnvelope(account, outgoing, signal)), sentAt: now() };
            },
          },
        );
        const { envelopeId, sentAt = now() } = sent ?? {};
        return { ...(envelopeId === undefined ? {} : { envelopeId: String(envelopeId) }), sentAt };
      });
    },
  };
}

export type EnvelopeActivities = ReturnType<typeof createEnvelopeActivities>;
