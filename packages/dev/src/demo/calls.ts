// The demo's identifications by video: one call ends by itself, one is rejected (P1 §1.2, 4.2). The conferences exist already; what
// stands after the `~` of their ids is the sandbox's (docs/sandbox/scenarios.md).
import { setTimeout as delay } from "node:timers/promises";
import { settings, type Scenario } from "./scenario.js";

export const callScenarios: Scenario[] = [
  {
    process: "verifyIdentity",
    name: "call-verified",
    title: "A video call; its audit is kept, and deleted there",
    expected: "verified",
    effect: "video-identification.deleteAuditData",
    async play({ client }, intent) {
      const input = { idConference: intent, deleteAudit: true, settings };
      return { handle: await client.verifyIdentity("call-verified", input) };
    },
  },
  {
    process: "verifyIdentity",
    name: "call-rejected",
    title: "A video call is rejected",
    expected: "rejected",
    effect: "video-identification.rejectCall",
    async play({ client }, intent) {
      const input = { idConference: `${intent}~open`, settings };
      const handle = await client.verifyIdentity("call-rejected", input);
      const meanwhile = async () => {
        while ((await handle.rejectCall({ reason: "no document" })).answer !== "rejected")
          await delay(500);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
];
