// The video identification service as a provider of the sandbox, and what the control API may do with its conferences (P1 §1.2,
// 4.2, 5.2, 6.1).
import type { ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { ConferenceService, type VideoState } from "./conference-service.js";
import { alertSummary, summary, type Conference } from "./conference.js";
import { Credentials } from "./credentials.js";
import { PROVIDER } from "./magic.js";
import { videoOperations } from "./operations.js";
import { refusal } from "../../exchange/refusal.js";

const view = (conference: Conference): Record<string, unknown> => ({
  ...conference,
  ...summary(conference),
});

export function videoIdentification(parts: SandboxParts): SandboxProvider {
  const service = new ConferenceService(parts);
  const credentials = new Credentials(service);
  return {
    name: PROVIDER,
    operations: videoOperations(service, credentials),
    hasCallbacks: true,
    authenticate: (arrival) => credentials.authenticate(arrival),
    refuse: (status, code, message) => refusal(status, String(code), message),
    *items(): Iterable<ItemSummary> {
      for (const conference of service.conferences()) yield summary(conference);
      for (const registration of service.alerts()) yield alertSummary(registration);
    },
    item(id) {
      const conference = service.get(id);
      if (conference) return view(conference);
      const registration = service.alertOf(id);
      return registration && { ...registration, ...alertSummary(registration) };
    },
    move(id, { state }) {
      const conference = service.get(id);
      if (!conference) return service.alertOf(id) && "a registration has no states";
      if (state !== "closed" && state !== "rejected")
        return "state: must be one of closed, rejected";
      if (conference.state !== "open") return `state: the call is ${conference.state}`;
      service.end(conference, state, parts.clock.now());
      return view(conference);
    },
    save: () => service.save(),
    load: (state) => service.load(state as VideoState),
    clear: () => service.clear(),
  };
}
