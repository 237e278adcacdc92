// The one-shot service as a provider of the sandbox, and what the control API may do with its requests (P1 §1.4, 4.4, 5.4).
import { tokenAdmission } from "../../exchange/credentials.js";
import type { ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { documentOperations } from "./document-operations.js";
import { identityVideoOperations } from "./identity-video.js";
import { OperatorTokens } from "./operator-tokens.js";
import { refusal } from "../../exchange/refusal.js";
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

  return {
    name: "one-shot-signature",
    operations: [
      ...tokens.operations(),
      ...requestOperations(signing),
      ...documentOperations(signing),
      ...identityVideoOperations(signing),
    ],
    hasCallbacks: true,
    authenticate: (arrival) =>
      tokenAdmission(arrival, parts.options.oneShotToken, (token) => tokens.holder(token)),
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
