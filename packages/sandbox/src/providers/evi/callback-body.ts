// The callback envelope that all notification services share (P2 §2.11–2.12).
import type { Account } from "../../engine/accounts.js";
import { joinedLookupKey, type Affidavit, type EviItem } from "./item.js";

export interface EviEvent {
  identifier: string;
  kind: string;
  at: number;
  affidavit?: Affidavit;
  isRegenerated?: boolean;
  /** Counts the events, so that `Owner` comes filled, null and absent in turn. */
  number: number;
}

export interface ServiceMembers {
  EvidenceType: string;
  /** Of `AdditionalData`: who sends to whom, and what the event says. */
  parties: Record<string, unknown>;
  details: Record<string, unknown>;
}

export function callbackBody(
  item: EviItem,
  event: EviEvent,
  account: Account | undefined,
  { EvidenceType, parties, details }: ServiceMembers,
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
    EvidenceType,
    EvidenceState: null,
    Site: item.site,
    ...owner,
    OwnerEmail: account?.ownerEmail ?? `${item.account}@sandbox.invalid`,
    AdditionalData: {
      ...parties,
      LookupKey: joinedLookupKey(item),
      State: item.state,
      CreationDate: new Date(item.createdAt).toISOString(),
      ...(item.callback?.extraData !== undefined && { ExtraData: item.callback.extraData }),
      ...details,
      ...(kind === "Closed" && { Outcome: item.outcome }),
      ...(affidavit && { AffidavitId: affidavit.id, AffidavitName: affidavit.name }),
      ...(affidavit?.requestId !== undefined && { RequestId: affidavit.requestId }),
      ...(event.isRegenerated && { Regenerated: true }),
    },
  });
}
