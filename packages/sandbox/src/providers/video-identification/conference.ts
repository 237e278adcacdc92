// A conference and the addresses for alerts, as the sandbox keeps them (P1 §2.7: the fields are not shown).
import type { ItemSummary } from "../../exchange/operation.js";
import type { Hideable } from "../../engine/visibility.js";
import { PROVIDER, type Word } from "./magic.js";

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

export function summary(conference: Conference): ItemSummary {
  const { id, intent, account, state, createdAt } = conference;
  return {
    provider: PROVIDER,
    id,
    intent,
    account,
    state,
    outcome: verdictOf(conference) ?? "None",
    createdAt: new Date(createdAt).toISOString(),
  };
}

export function alertSummary(registration: AlertRegistration): ItemSummary {
  const { processId, account, at } = registration;
  return {
    provider: PROVIDER,
    id: alertId(registration),
    intent: processId,
    account,
    state: "registered",
    outcome: "None",
    createdAt: new Date(at).toISOString(),
  };
}

/** Of a call that ran to its end. */
export function verdictOf({ state, words }: Conference): string | undefined {
  if (state !== "closed") return undefined;
  return words.includes("unverified") ? "notVerified" : "verified";
}
