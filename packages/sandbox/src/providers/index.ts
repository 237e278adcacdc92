// The simulated providers, with one line each. The sandbox imports nothing of Trustflow's, so it keeps this list of its own;
// test/providers/registry.test.ts compares it with src/providers/registry.ts.
import type { SandboxParts } from "../engine/parts.js";
import type { SandboxProvider } from "../exchange/operation.js";
import { credentialWallet } from "./credential-wallet/credential-wallet.js";
import { disposableCertificate } from "./disposable-certificate/disposable-certificate.js";
import { envelopeSignature } from "./envelope-signature/envelope-signature.js";
import { eviPost } from "./evi-post/evi-post.js";
import { eviNotice } from "./evi-notice/evi-notice.js";
import { messagingGateway } from "./messaging-gateway/messaging-gateway.js";
import { oneShotSignature } from "./one-shot-signature/one-shot-signature.js";
import { videoIdentification } from "./video-identification/video-identification.js";

export const simulated: Record<string, (parts: SandboxParts) => SandboxProvider> = {
  "evi-post": eviPost,
  "evi-notice": eviNotice,
  "disposable-certificate": disposableCertificate,
  "messaging-gateway": messagingGateway,
  "one-shot-signature": oneShotSignature,
  "envelope-signature": envelopeSignature,
  "credential-wallet": credentialWallet,
  "video-identification": videoIdentification,
};
