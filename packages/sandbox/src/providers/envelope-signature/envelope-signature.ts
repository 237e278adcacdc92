// The envelope-based service as a provider of the sandbox: two hosts with a credential each (P1 §1.5, 5.5).
import { header } from "../../exchange/credentials.js";
import type { Admission, Arrival, ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { fileSummary, requestSummary } from "./certificate-request.js";
import { EnvelopeService, type EnvelopeState } from "./envelope-service.js";
import { envelopeOperations } from "./envelope-operations.js";
import { refusal as caRefusal } from "../../exchange/refusal.js";
import { envelopeRefusal } from "./refusal.js";

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
    name: "envelope-signature",
    operations: envelopeOperations(envelopes),
    authenticate: (arrival) =>
      arrival.operation.endsWith(".esawoneshot")
        ? certificateHolder(arrival)
        : tokenHolder(arrival),
    refuse: (status, code, message) => envelopeRefusal(status, String(code), message),
    *items(): Iterable<ItemSummary> {
      for (const request of envelopes.requests()) yield requestSummary(request);
      for (const file of envelopes.files()) yield fileSummary(file);
    },
    item(id) {
      const request = envelopes.request(id);
      if (request) {
        const { token: _token, ...rest } = request;
        return { ...rest, ...requestSummary(request) };
      }
      const file = envelopes.file(id);
      return file && { ...file, ...fileSummary(file) };
    },
    save: () => envelopes.save(),
    load: (state) => envelopes.load(state as EnvelopeState),
    clear: () => envelopes.clear(),
  };
}
