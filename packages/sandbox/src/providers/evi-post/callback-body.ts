// What the callbacks of a communication say besides the shared envelope (P2 §2.12).
import type { Account } from "../../engine/accounts.js";
import { callbackBody, type EviEvent } from "../evi/callback-body.js";
import type { PostItem } from "./post-item.js";

const details: Record<string, string> = {
  Dispatched: "handed to the carrier",
  Issued: "issued by the postal operator",
  Sent: "accepted by the postal operator",
};

export function postalCallback(
  item: PostItem,
  event: EviEvent,
  account: Account | undefined,
): string {
  const { kind } = event;
  return callbackBody(item, event, account, {
    EvidenceType: "eviPost",
    parties: { Sender: item.sender, Recipient: item.recipient },
    details: {
      ...(details[kind] !== undefined && { TransmissionDetails: details[kind] }),
      ...(kind === "Delivered" && { Details: "delivered at the address" }),
    },
  });
}
