// The waits of a letter, and the provider's people, who move it on.
import type { SendPostalInput } from "../../../src/client.js";
import { DEADLINE_SECONDS, denied } from "../waits.js";
import type { Waits } from "../waits.js";
import { fastSettings, letterInput } from "./inputs.js";

const spans = { ...fastSettings, pollIntervalSeconds: 2, restingGraceSeconds: 120 };

const letter =
  (more: SendPostalInput["settings"] = {}, words = "open", account = {}) =>
  (id: string) =>
    letterInput(id, words, { settings: { ...spans, ...more }, ...account });
const affidavits = letter({ affidavitWindowSeconds: DEADLINE_SECONDS });

const openStates = ["Processed", "Dispatched", "Issued", "Sent"];
/** `Cancelled` claims an end that does not come; a letter that stands there at its deadline would end. */
const claimedStates = [...openStates, "Cancelled"];

export const postalWaits: Waits = {
  waits: [
    {
      name: "letter-polled",
      kind: "held",
      input: letter({}, "open,callback=lost*"),
      ends: "delivered",
    },
    { name: "letter-called-back", kind: "held", input: letter(), ends: "delivered" },
    {
      name: "letter-deadline",
      kind: "alone",
      input: letter({ deadlineSeconds: DEADLINE_SECONDS }),
      ends: "openAtDeadline",
    },
    { name: "letter-affidavits", kind: "hurried", input: affidavits, ends: "delivered" },
    { name: "letter-denied", kind: "held", input: letter({}, "open", denied), ends: "delivered" },
  ],
  async act({ system: { sandbox }, wait, isEnding, waitingFor, item }) {
    if (waitingFor === "late affidavits") await sandbox.publishAffidavit(item);
    if (waitingFor !== "news from EviPost") return;
    const states = wait.kind === "alone" ? openStates : claimedStates;
    const state = states[Math.floor(Math.random() * states.length)] ?? "Sent";
    await sandbox.move(item, isEnding ? { state: "Closed", outcome: "Delivered" } : { state });
  },
};
