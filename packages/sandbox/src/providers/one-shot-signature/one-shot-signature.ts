// The one-shot service as a provider of the sandbox, and what the control API may do with its requests (P1 §1.4, 4.4, 5.4).
import { header } from "../../exchange/credentials.js";
import type { Admission, Arrival, ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { documentOperations } from "./document-operations.js";
import { identityVideoOperations } from "./identity-video.js";
import { OperatorTokens } from "./operator-tokens.js";
import { refusal } from "./refusal.js";
import { requestOperations } from "./request-operations.js";
import { states, summary, type RequestState, type SignatureRequest } from "./signature-request.js";
import { SigningService } from "./signing-service.js";

interface OneShotState {
  requests: SignatureRequest[];
  tokens: [string, string][];
}

/** A request without its code: that is for the outbox alone. */
function view(request: SignatureRequest): Record<string, unknown> {
  const { otp: _otp, ...rest } = request;
  return { ...rest, ...summary(request) };
}

export function oneShotSignature(parts: SandboxParts): SandboxProvider {
  const signing = new SigningService(parts);
  const tokens = new OperatorTokens(parts);
  const { name, prefix } = parts.options.oneShotToken;

  function authenticate(arrival: Arrival): Admission {
    const value = header(arrival, name.toLowerCase());
    const account = value?.startsWith(prefix)
      ? tokens.holder(value.slice(prefix.length))
      : undefined;
    if (!account) {
      const denial = refusal(401, "unauthorized", "wrong or missing token");
      return { denial, ...(value === undefined && { missing: name }) };
    }
    if (account.provisioned) return { account };
    return { account, denial: refusal(403, "forbidden", "the account is not provisioned") };
  }

  return {
    name: "one-shot-signature",
    operations: [
      ...tokens.operations(),
      ...requestOperations(signing),
      ...documentOperations(signing),
      ...identityVideoOperations(signing),
    ],
    hasCallbacks: true,
    authenticate,
    refuse: (status, code, message) => refusal(status, String(code), message),
    *items(): Iterable<ItemSummary> {
      for (const request of signing.all()) yield summary(request);
    },
    item(id) {
      const request = signing.get(id);
      return request && view(request);
    },
    move(id, { state }) {
      const request = signing.get(id);
      if (!request) return undefined;
      if (!(states as readonly string[]).includes(state))
        return `state: must be one of ${states.join(", ")}`;
      signing.enter(request, state as RequestState, parts.clock.now());
      return view(request);
    },
    save: (): OneShotState => ({ requests: [...signing.all()], tokens: tokens.save() }),
    load(state) {
      const saved = state as OneShotState;
      signing.load(saved.requests);
      tokens.load(saved.tokens);
    },
    clear() {
      signing.clear();
      tokens.clear();
    },
  };
}
