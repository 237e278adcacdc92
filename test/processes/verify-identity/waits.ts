// The waits of an identification, and the people of the video service, who close its call.
import type { VerifyIdentityInput } from "../../../src/client.js";
import { DEADLINE_SECONDS, denied } from "../waits.js";
import type { Waits } from "../waits.js";
import { identityInput } from "./inputs.js";

const polled = { pollIntervalSeconds: 2, askIntervalSeconds: 1 };
const call =
  (more: VerifyIdentityInput["settings"] = {}, words = "open", account = {}) =>
  (id: string) =>
    identityInput(id, words, { settings: { ...polled, ...more }, ...account });

export const identityWaits: Waits = {
  waits: [
    { name: "call-polled", kind: "held", input: call(), ends: "verified" },
    {
      name: "call-deadline",
      kind: "alone",
      input: call({ deadlineSeconds: DEADLINE_SECONDS }),
      ends: "openAtDeadline",
    },
    { name: "call-denied", kind: "held", input: call({}, "open", denied), ends: "verified" },
  ],
  async act({ system, isEnding, waitingFor, item }) {
    if (waitingFor !== "the end of the call" || !isEnding) return;
    // The process may not know yet that it has closed.
    const { state } = await system.sandbox.item(item);
    if (state === "open") await system.sandbox.move(item, { state: "closed" });
  },
};
