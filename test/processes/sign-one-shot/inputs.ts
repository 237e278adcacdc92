// Signature requests for tests: real PDFs, an intent in the caller's own payload, and the sandbox's magic words.
import type { SignOneShotInput } from "../../../src/client.js";
import { pdf } from "../../../packages/sandbox/src/exchange/pdf.js";

const inline = (text: string) => ({
  base64: pdf([text]).toString("base64"),
  mediaType: "application/pdf",
});

/** An input whose intent is the payload's `reference`; two documents to be signed. */
export function signerInput(
  intent: string,
  magic = "",
  more: Partial<SignOneShotInput> = {},
): SignOneShotInput {
  const { settings, ...others } = more;
  return {
    variant: "classic",
    providerFields: {
      reference: intent,
      mobile: "+390612345678",
      ...(magic === "" ? {} : { sandbox: magic }),
    },
    documents: ["agreement", "annex"].map((name) => ({
      name: `${name}.pdf`,
      document: inline(`The ${name} of ${intent}`),
    })),
    settings: {
      resendSpacingSeconds: 0,
      pollIntervalSeconds: 3,
      askIntervalSeconds: 1,
      ...settings,
    },
    ...others,
  };
}

/** What the process waits for while the identity video is neither approved nor cancelled. */
export const videoDecision = "a decision on the identity video";

/** The same with an identity video, which has to be approved first. */
export function videoInput(intent: string, magic = ""): SignOneShotInput {
  const input = signerInput(intent, magic);
  return {
    ...input,
    variant: "videoIdentification",
    providerFields: { ...input.providerFields, identityVideo: true },
    identityVideo: {
      evidences: [
        { name: "identity-card.pdf", document: inline(`The identity card of ${intent}`) },
      ],
      video: {
        name: "video.mp4",
        document: {
          base64: Buffer.from(`The video of ${intent}`).toString("base64"),
          mediaType: "video/mp4",
        },
      },
    },
  };
}
