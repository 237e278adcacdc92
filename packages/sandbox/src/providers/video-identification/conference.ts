// A conference and the addresses for alerts, as the sandbox keeps them (P1 §2.7: the fields are not shown).
import type { Hideable } from "../../engine/visibility.js";
import type { Word } from "./magic.js";

/** P1 §3 shows no states: these are the sandbox's own. */
export type ConferenceState = "open" | "closed" | "rejected";

export interface Conference extends Hideable {
  id: string;
  intent: string;
  processId: string;
  words: Word[];
  magicKey: string;
  account: string;
  state: ConferenceState;
  createdAt: number;
  closedAt?: number;
  isAuditDeleted?: true;
}

/** P1 §4.2: who is told of failed callbacks, for one `processId` of an account. */
export interface AlertRegistration {
  processId: string;
  account: string;
  emails: string[];
  at: number;
}

export const alertId = ({ account, processId }: Pick<AlertRegistration, "account" | "processId">) =>
  `alert:${account}/${processId}`;

/** Of a call that ran to its end. */
export function verdictOf({ state, words }: Conference): string | undefined {
  if (state !== "closed") return undefined;
  return words.includes("unverified") ? "notVerified" : "verified";
}
