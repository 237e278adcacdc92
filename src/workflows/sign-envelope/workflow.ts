// Documents in an envelope that a one-shot certificate signs, over two hosts: the certificate request, every document, the
// envelope; the provider reports no later status (P1 §1.5, 2.10, 4.5; docs/reading-the-specification.md §7).
import type {
  CertificateRequested,
  EnvelopePlan,
  EnvelopeSent,
} from "../../activities/envelope-signature/index.js";
import type { References } from "../../contracts/shared/status.js";
import type {
  SignEnvelopeInput,
  SignEnvelopeResult,
} from "../../contracts/sign-envelope/contract.js";
import { wanted } from "../runtime/attention.js";
import { plainView } from "../runtime/event-log.js";
import { Flow, run } from "../runtime/flow.js";
import { runConcurrently } from "../runtime/run-concurrently.js";
import { effectStep, queryStep, stepsOf } from "../runtime/steps.js";

const provider = "envelope-signature";
const authority = "the certificate authority's host";
const envelopeHost = "the envelope host";

export async function signEnvelope(input: SignEnvelopeInput): Promise<SignEnvelopeResult> {
  return run(new SignEnvelope(input));
}

class SignEnvelope {
  readonly #input: SignEnvelopeInput;
  readonly flow = new Flow(plainView);
  readonly #step = stepsOf(this.flow, provider);
  /** The provider has given each uploaded document an id; its key is the document's index in the input. */
  readonly #fileIds = new Map<number, string>();
  #plan: EnvelopePlan | undefined;
  #requested: CertificateRequested | undefined;
  #sent: EnvelopeSent | undefined;

  constructor(input: SignEnvelopeInput) {
    this.#input = input;
    this.flow.lifecycle.askBeforeCancelling("create", "send");
  }

  async main(): Promise<void> {
    const { status } = this.flow;
    const plan = await this.#prepare();
    this.#plan = plan;
    status.identify(plan);

    status.waitFor(authority);
    const requested = await this.#requestCertificate(plan);
    this.#requested = requested;
    this.#made("Created the certificate request");
    status.waitFor(envelopeHost);
    status.publish();

    const uploads = plan.documents.map((_, index) => () => this.#upload(plan, index));
    await runConcurrently(uploads, plan.settings.uploadsAtOnce);
    status.publish();

    this.#sent = await this.#send(plan, requested);
    this.#made("Sent the envelope");
    status.ownOutcome = "sent";
  }

  #prepare(): Promise<EnvelopePlan> {
    return this.#step(
      queryStep("prepare", "Check the input and its documents"),
      (service, { mode }) => service.prepare({ input: this.#input, mode }),
    );
  }

  #requestCertificate({ documents }: EnvelopePlan): Promise<CertificateRequested> {
    const step = effectStep("create", "Create the certificate request", {
      host: authority,
      happened: { reqPk: wanted.reference, esawToken: wanted.token },
    });
    const input = { ...this.#input, documents };
    return this.#step(step, (service, call) => service.create({ ...call, input }));
  }

  async #upload({ account, documents }: EnvelopePlan, index: number): Promise<void> {
    const file = documents[index]!;
    const which = `document ${index + 1} of ${documents.length}`;
    const step = effectStep(`upload-${index}`, `Upload ${which}`, {
      host: envelopeHost,
      happened: { fileId: wanted.reference },
      lookFor: () => ({ document: file.name }),
    });
    const path = `documents.${index}.document`;
    const { fileId } = await this.#step(step, (service, call) =>
      service.upload({ ...call, account, file, path }),
    );
    this.#fileIds.set(index, fileId);
    this.#made(`Uploaded ${which}`);
  }

  #send(
    { account, documents }: EnvelopePlan,
    { esawToken }: CertificateRequested,
  ): Promise<EnvelopeSent> {
    const step = effectStep("send", "Send the envelope", {
      host: envelopeHost,
      happened: { envelopeId: wanted.optional(wanted.reference) },
      lookFor: () => ({ documents: documents.map(({ name }) => name).join(", ") }),
    });
    return this.#step(step, (service, call) =>
      service.send({
        ...call,
        account,
        esawToken,
        envelope: this.#input.envelope?.providerFields ?? {},
        documents: documents.map(({ providerFields: fields }, index) => ({
          fileId: this.#fileIds.get(index)!,
          ...(fields && { fields }),
        })),
      }),
    );
  }

  #made(event: string): void {
    const { log, status } = this.flow;
    status.references = this.#references();
    log.note(event);
  }

  /** The search attribute has room for the first twenty. */
  #references(): References {
    const files = [...this.#fileIds].toSorted(([one], [other]) => one - other);
    const envelopeId = this.#sent?.envelopeId;
    return {
      ...(this.#requested ? { reqPk: this.#requested.reqPk } : {}),
      ...(envelopeId === undefined ? {} : { envelopeId }),
      ...Object.fromEntries(files.map(([index, fileId]) => [`fileId-${index}`, fileId])),
    };
  }

  result(): SignEnvelopeResult {
    return {
      ...this.flow.result("signEnvelope"),
      outcome: "sent",
      dates: { requestedAt: this.#requested?.requestedAt, sentAt: this.#sent?.sentAt },
      documents: (this.#plan?.documents ?? []).map(({ name, document }, index) => ({
        kind: "submitted" as const,
        document,
        uniqueId: this.#fileIds.get(index),
        description: name,
      })),
    };
  }
}
