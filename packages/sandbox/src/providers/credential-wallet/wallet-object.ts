// What the wallet keeps: whatever was created, and the flows that were started (P1 §2.11; fields and states are assumed: not shown).
import type { ItemSummary } from "../../exchange/operation.js";
import type { Hideable } from "../../engine/visibility.js";
import type { Word } from "./magic.js";

export type Kind =
  | "operator"
  | "template"
  | "verificationTemplate"
  | "issuanceService"
  | "presentationService"
  | "issuance"
  | "presentation";

/** Whose request it is, and what its magic words ask for; a step takes over those of the step before. */
export interface Subject {
  /** The body's `reference`, else that of the object that it refers to: what the ledger counts by. */
  intent: string | null;
  magicKey?: string;
  words: Word[];
}

export interface WalletObject extends Subject, Hideable {
  id: string;
  kind: Kind;
  account: string;
  /** The ids of the objects that it refers to. */
  links: string[];
  createdAt: number;
}

export function summary({ id, kind, intent, account, createdAt }: WalletObject): ItemSummary {
  const isFlow = kind === "issuance" || kind === "presentation";
  return {
    provider: "credential-wallet",
    id,
    intent,
    account,
    state: isFlow ? "initiated" : "created",
    outcome: "None",
    createdAt: new Date(createdAt).toISOString(),
  };
}
