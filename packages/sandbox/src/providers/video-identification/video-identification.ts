// The video identification service as a provider of the sandbox, and what the control API may do with its conferences (P1 §1.2,
// 4.2, 5.2, 6.1).
import { keeping } from "../../exchange/kept.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { ConferenceService } from "./conference-service.js";
import { credentialsOf } from "./credentials.js";
import { PROVIDER } from "./magic.js";
import { videoOperations } from "./operations.js";
import { refusal } from "../../exchange/refusal.js";

export function videoIdentification(parts: SandboxParts): SandboxProvider {
  const service = new ConferenceService(parts);
  const { conferences, alerts } = service;
  const credentials = credentialsOf(service);
  return {
    name: PROVIDER,
    operations: videoOperations(service, credentials),
    hasCallbacks: true,
    authenticate: credentials.authenticate,
    refuse: (status, code, message) => refusal(status, String(code), message),
    kept: keeping({ conferences, alerts }),
    move(id, { state }) {
      const conference = conferences.get(id);
      if (!conference) return alerts.get(id) && "a registration has no states";
      if (state !== "closed" && state !== "rejected")
        return "state: must be one of closed, rejected";
      if (conference.state !== "open") return `state: the call is ${conference.state}`;
      service.end(conference, state, parts.clock.now());
      return conferences.view(conference);
    },
  };
}
