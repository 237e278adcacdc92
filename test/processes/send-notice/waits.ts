// The waits of a notice, and the recipient and the provider's people, who move it on.
import type { SendNoticeInput } from "../../../src/client.js";
import { DEADLINE_SECONDS, denied } from "../waits.js";
import type { Waits } from "../waits.js";
import { fastSettings, noticeInput } from "./inputs.js";

const spans = { ...fastSettings, pollIntervalSeconds: 2 };

const notice =
  (more: SendNoticeInput["settings"] = {}, words = "open", account = {}) =>
  (id: string) =>
    noticeInput(id, words, { settings: { ...spans, ...more }, ...account });
const affidavits = notice({ affidavitWindowSeconds: DEADLINE_SECONDS });

/** `Failed` is one of them: a later try may still deliver it (P2 §3.2). */
const states = ["Processed", "Dispatched", "Sent", "Failed", "Delivered", "Received", "Read"];

export const noticeWaits: Waits = {
  waits: [
    { name: "notice-polled", kind: "held", input: notice({}, "open,callback=lost*"), ends: "read" },
    { name: "notice-called-back", kind: "held", input: notice(), ends: "read" },
    {
      name: "notice-deadline",
      kind: "alone",
      input: notice({ deadlineSeconds: DEADLINE_SECONDS }),
      ends: "openAtDeadline",
    },
    { name: "notice-affidavits", kind: "hurried", input: affidavits, ends: "read" },
    { name: "notice-denied", kind: "held", input: notice({}, "open", denied), ends: "read" },
  ],
  async act({ system: { sandbox }, isEnding, waitingFor, item }) {
    if (waitingFor === "late affidavits") await sandbox.publishAffidavit(item);
    if (waitingFor !== "news from EviNotice") return;
    const state = states[Math.floor(Math.random() * states.length)] ?? "Sent";
    await sandbox.move(item, isEnding ? { state: "Closed", outcome: "Read" } : { state });
  },
};
