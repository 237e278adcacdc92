// What the callbacks of a notice say besides the shared envelope (P2 §2.12).
import type { Account } from "../../engine/accounts.js";
import { callbackBody, type EviEvent } from "../evi/callback-body.js";
import type { NoticeItem } from "./notice-item.js";

const visitor = {
  IpAddress: "192.0.2.1",
  BrowserData: "Sandbox 1.0",
  UserLanguages: "es,en",
  UserIdentity: null,
  UserAgent: "Mozilla/5.0 (sandbox)",
};

const progress: Record<string, Record<string, unknown>> = {
  Sent: { XmissionDetails: "accepted by the mail server" },
  Dispatched: { Progress: 25, Description: "handed to the delivery channel" },
  Delivered: { Progress: 50, Description: "delivered to the recipient" },
  Received: { Progress: 75, Description: "the link was followed", ...visitor },
  Read: { Progress: 100, Description: "the content was opened", ...visitor },
  Failed: { Progress: 25, Description: "the delivery failed; it is tried again" },
};

export function noticeCallback(
  item: NoticeItem,
  event: EviEvent,
  account: Account | undefined,
): string {
  const { kind } = event;
  return callbackBody(item, event, account, {
    EvidenceType: "eviNotice",
    parties: { From: item.from, To: item.to, Subject: item.subject },
    details: {
      ...progress[kind],
      ...(kind === "Replied" && { Kind: item.outcome, Comments: "answered in the sandbox" }),
      ...(kind === "Closed" && { OutcomeDescription: `the notice ended as ${item.outcome}` }),
    },
  });
}
