// The callback envelope of a communication (P2 §2.11–2.12).
import type { Account } from "../../engine/accounts.js";
import { joinedLookupKey, type PostAffidavit, type PostItem } from "./post-item.js";

export interface PostEvent {
  identifier: string;
  kind: string;
  at: number;
  affidavit?: PostAffidavit;
  isRegenerated?: boolean;
  /** Counts the events, so that `Owner` comes filled, null and absent in turn. */
  number: number;
}

const details: Record<string, string> = {
  Dispatched: "handed to the carrier",
  Issued: "issued by the postal operator",
  Sent: "accepted by the postal operator",
};

export function callbackBody(
  item: PostItem,
  event: PostEvent,
  account: Account | undefined,
): string {
  const { kind, affidavit } = event;
  const owner = [{ Owner: account?.ownerName ?? item.account }, { Owner: null }, {}][
    event.number % 3
  ];
  return JSON.stringify({
    Identifier: event.identifier,
    Kind: kind,
    Date: new Date(event.at).toISOString(),
    EvidenceId: item.id,
    EvidenceType: "eviPost",
    EvidenceState: null,
    Site: item.site,
    ...owner,
    OwnerEmail: account?.ownerEmail ?? `${item.account}@sandbox.invalid`,
    AdditionalData: {
      Sender: item.sender,
      Recipient: item.recipient,
      LookupKey: joinedLookupKey(item),
      State: item.state,
      CreationDate: new Date(item.createdAt).toISOString(),
      ...(item.callback?.extraData !== undefined && { ExtraData: item.callback.extraData }),
      ...(details[kind] !== undefined && { TransmissionDetails: details[kind] }),
      ...(kind === "Delivered" && { Details: "delivered at the address" }),
      ...(kind === "Closed" && { Outcome: item.outcome }),
      ...(affidavit && { AffidavitId: affidavit.id, AffidavitName: affidavit.name }),
      ...(affidavit?.requestId !== undefined && { RequestId: affidavit.requestId }),
      ...(event.isRegenerated && { Regenerated: true }),
    },
  });
}
