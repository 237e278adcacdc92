// Documents in an envelope that a one-shot certificate signs, over two hosts: the certificate request, every document, the
// envelope; the provider reports no later status (P1 §1.5, 2.10, 4.5; docs/reading-the-specification.md §7).
import type {
  CertificateRequested,
  EnvelopeActivities,
  EnvelopePlan,
  EnvelopeSent,
} from "../../activities/envelope-signature/index.js";
import type { References } from "../../contracts/shared/status.js";
import type { SignEnvelopeInput, SignEnvelopeResult } from "../../contracts/sign-envelope.js";
import { wanted } from "../runtime/attention.js";
import { plainView } from "../runtime/plain-view.js";
import { Flow } from "../runtime/flow.js";
import { runConcurrently } from "../runtime/run-concurrently.js";
import { stepsOf } from "../runtime/steps.js";

const provider = "envelope-signature";
const authority = "the certificate authority's host";
const envelopeHost = "the envelope host";

export async function signEnvelope(input: SignEnvelopeInput): Promise<SignEnvelopeResult> {
  const flow = new Flow(plainView);
  const step = stepsOf<EnvelopeActivities>(flow, provider);
  const fileIds = new Map<number, string>();
  let plan: EnvelopePlan | undefined;
  let requested: CertificateRequested | undefined;
  let sent: EnvelopeSent | undefined;
  flow.lifecycle.askBeforeCancelling("create", "send");

  /** What exists by now; the search attribute has room for the first twenty. */
  function references(): References {
    const files = [...fileIds].toSorted(([one], [other]) => one - other);
    return {
      ...(requested ? { reqPk: requested.reqPk } : {}),
      ...(sent?.envelopeId === undefined ? {} : { envelopeId: sent.envelopeId }),
      ...Object.fromEntries(files.map(([index, fileId]) => [`fileId-${index}`, fileId])),
    };
  }

  function made(event: string): void {
    flow.status.references = references();
    flow.log.note({ source: "process", event });
  }

  async function upload({ account, documents }: EnvelopePlan, index: number): Promise<void> {
    const file = documents[index]!;
    const which = `document ${index + 1} of ${documents.length}`;
    const { fileId } = await step(
      {
        name: `upload-${index}`,
        summary: `Upload ${which}`,
        host: envelopeHost,
        journaled: true,
        happened: { fileId: wanted.reference },
      },
      (service, call) =>
        service.upload({ ...call, account, file, path: `documents.${index}.document` }),
    );
    fileIds.set(index, fileId);
    made(`Uploaded ${which}`);
  }

  const main = async () => {
    const prepared = await step(
      { name: "prepare", summary: "Check the input and its documents", journaled: false },
      (service, { mode }) => service.prepare({ input, mode }),
    );
    plan = prepared;
    flow.status.identify(prepared);
    const { account, documents, settings } = prepared;

    flow.status.waitFor(authority);
    requested = await step(
      {
        name: "create",
        summary: "Create the certificate request",
        host: authority,
        journaled: true,
        happened: { reqPk: wanted.reference, esawToken: wanted.token },
      },
      (service, call) => service.create({ ...call, input: { ...input, documents } }),
    );
    const { esawToken } = requested;
    made("Created the certificate request");
    flow.status.waitFor(envelopeHost);
    flow.status.publish();

    const uploads = documents.map((_, index) => () => upload(prepared, index));
    await runConcurrently(uploads, settings.uploadsAtOnce);
    flow.status.publish();

    sent = await step(
      {
        name: "send",
        summary: "Send the envelope",
        host: envelopeHost,
        journaled: true,
        happened: { envelopeId: wanted.optional(wanted.reference) },
      },
      (service, call) =>
        service.send({
          ...call,
          account,
          esawToken,
          envelope: input.envelope?.providerFields ?? {},
          documents: documents.map(({ providerFields: fields }, index) => ({
            fileId: fileIds.get(index)!,
            ...(fields && { fields }),
          })),
        }),
    );
    made("Sent the envelope");
    flow.status.ownOutcome = "sent";
  };

  return flow.lifecycle.run(main, () => ({
    process: "signEnvelope",
    id: flow.status.id,
    outcome: "sent",
    references: flow.status.references,
    dates: {
      ...(requested && { requestedAt: requested.requestedAt }),
      ...(sent && { sentAt: sent.sentAt }),
    },
    documents: (plan?.documents ?? []).map(({ name, document }, index) => ({
      kind: "submitted" as const,
      document,
      ...(fileIds.has(index) ? { uniqueId: fileIds.get(index) } : {}),
      description: name,
    })),
    timeline: flow.log.timeline,
  }));
}
