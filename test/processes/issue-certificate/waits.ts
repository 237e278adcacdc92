// The waits of a certificate, and its holder.
import type { CertificateHandle, IssueCertificateInput } from "../../../src/client.js";
import { codes, DEADLINE_SECONDS, denied, enterCode } from "../waits.js";
import type { Waits } from "../waits.js";
import { assertionInput, assertionOf, holderInput } from "./inputs.js";

const hourAgo = () => new Date(Date.now() - 3_600_000);
const holder =
  (more: IssueCertificateInput["settings"] = {}, account = {}) =>
  (id: string) =>
    holderInput(id, "", { settings: { ...codes, ...more }, ...account });
const stale =
  (more: IssueCertificateInput["settings"] = {}) =>
  (id: string) => ({ ...assertionInput(id, hourAgo()), settings: { ...codes, ...more } });
const codeDeadline = holder({ holderDeadlineSeconds: DEADLINE_SECONDS });
const assertionDeadline = stale({ assertionDeadlineSeconds: DEADLINE_SECONDS });

export const certificateWaits: Waits = {
  waits: [
    { name: "certificate-code", kind: "held", input: holder(), ends: "issued" },
    { name: "certificate-code-deadline", kind: "alone", input: codeDeadline, ends: "expired" },
    { name: "certificate-assertion", kind: "held", input: stale(), ends: "issued" },
    {
      name: "certificate-assertion-deadline",
      kind: "alone",
      input: assertionDeadline,
      ends: "NotAcceptedError",
    },
    { name: "certificate-denied", kind: "held", input: holder({}, denied), ends: "issued" },
  ],
  async act(scene) {
    const { waitingFor, isEnding, wait, handle } = scene;
    if (waitingFor === "the holder's code") return enterCode(scene);
    if (waitingFor !== "a new eID assertion" || !(isEnding || wait.kind === "held")) return;
    const assertion = assertionOf(handle.id, isEnding ? new Date() : hourAgo());
    return (handle as CertificateHandle).provideAssertion(assertion);
  },
};
