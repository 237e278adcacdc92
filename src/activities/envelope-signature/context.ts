// What the activities of the envelope-based one-shot signature work with: an account with two hosts (P1 §1.5, 5.5).
import type { EnvelopeSettings } from "../../contracts/sign-envelope/contract.js";
import type { Operation } from "../../providers/registry.js";
import type { EnvelopeSignatureAccount } from "../../providers/envelope-signature/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "envelope-signature";

export type EnvelopeDependencies = ProviderDependencies<EnvelopeSignatureAccount> & {
  defaults: { signEnvelope: EnvelopeSettings };
};

export class EnvelopeContext extends ProviderContext<typeof provider, EnvelopeDependencies> {
  /** Each host has its own credential and its own outages (P1 §5.5). */
  protected override circuitOf(operation: Operation<typeof provider>): string {
    return `${super.circuitOf(operation)}/${operation === "esawoneshot" ? "ca" : "esign"}`;
  }
}
