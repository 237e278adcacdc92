// The envelope-based service as a provider of the sandbox: two hosts with a credential each (P1 §1.5, 5.5).
import { header } from "../../exchange/credentials.js";
import type { Admission, Arrival, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { keeping } from "../../exchange/kept.js";
import { refusal as caRefusal } from "../../exchange/refusal.js";
import { EnvelopeService, PROVIDER } from "./envelope-service.js";
import { envelopeOperations, envelopeRefusal } from "./envelope-operations.js";

export function envelopeSignature(parts: SandboxParts): SandboxProvider {
  const { accounts } = parts;
  const envelopes = new EnvelopeService(parts);

  /** The CA host: whose certificate it is. */
  function certificateHolder({ clientName }: Arrival): Admission {
    const account = clientName === undefined ? undefined : accounts.get(clientName);
    if (!account) {
      const why = "the client certificate belongs to no account";
      return { denial: caRefusal(401, "unauthorized", why) };
    }
    if (account.provisioned) return { account };
    return { account, denial: caRefusal(403, "forbidden", "the account is not provisioned") };
  }

  function tokenHolder(arrival: Arrival): Admission {
    const token = header(arrival, "apitoken");
    const account = token === undefined ? undefined : accounts.holding("apiToken", token);
    if (!account) {
      const denial = envelopeRefusal(401, "Unauthorized", "wrong or missing ApiToken");
      return { denial, ...(token === undefined && { missing: "ApiToken" }) };
    }
    if (account.provisioned) return { account };
    return { account, denial: envelopeRefusal(403, "Forbidden", "the account is not provisioned") };
  }

  return {
    name: PROVIDER,
    operations: envelopeOperations(envelopes),
    authenticate: (arrival) =>
      arrival.operation.endsWith(".esawoneshot")
        ? certificateHolder(arrival)
        : tokenHolder(arrival),
    refuse: (status, code, message) => envelopeRefusal(status, String(code), message),
    kept: keeping({ requests: envelopes.requests, files: envelopes.files }),
  };
}
