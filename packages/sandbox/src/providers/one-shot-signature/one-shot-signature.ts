// The one-shot service as a provider of the sandbox, and what the control API may do with its requests (P1 §1.4, 4.4, 5.4).
import { tokenAdmission } from "../../exchange/credentials.js";
import { keeping } from "../../exchange/kept.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { documentOperations } from "./document-operations.js";
import { identityVideoOperations } from "./identity-video.js";
import { OperatorTokens } from "./operator-tokens.js";
import { refusal } from "../../exchange/refusal.js";
import { requestOperations } from "./request-operations.js";
import { PROVIDER, SigningService, states, type SignatureRequest } from "./signing-service.js";

export function oneShotSignature(parts: SandboxParts): SandboxProvider {
  const signing = new SigningService(parts);
  const { requests } = signing;
  const tokens = new OperatorTokens(parts);

  return {
    name: PROVIDER,
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
    kept: keeping({ requests, tokens }),
    move(id, { state }) {
      const request = requests.get(id);
      if (!request) return undefined;
      if (!(states as readonly string[]).includes(state))
        return `state: must be one of ${states.join(", ")}`;
      signing.enter(request, state as SignatureRequest["state"], parts.clock.now());
      return requests.view(request);
    },
  };
}
