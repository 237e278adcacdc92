// The envelope-based one-shot signature (P1 §1.5), as the registry knows it. It shows no operation without an effect, so it
// has no credential check.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const envelopeSignature = providerEntry(parts, {
  effects,
  hosts: ({ ca, esign }) => [ca, esign],
});
