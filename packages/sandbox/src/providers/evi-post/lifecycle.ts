// The way of a communication from submit to its end, as steps with virtual delays (P2 §3.1).
import type { Step } from "../evi/item.js";
import type { AffidavitProfile, ServiceType } from "./submission.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const states = [
  "Draft",
  "Submitted",
  "Processed",
  "Dispatched",
  "Issued",
  "Sent",
  "Failed",
  "Undelivered",
  "Missing",
  "Delivered",
  "Disposed",
  "Cancelled",
  "Closed",
] as const;
export type PostalState = (typeof states)[number];

export const endings = [
  "delivered",
  "delivered-late",
  "delivered-after-60-days",
  "undelivered",
  "rejected",
  "failed",
  "failed-early",
  "returned",
  "disposed",
  "expired",
  "sent",
  "missing",
  "cancellable",
  "open",
  "stalled",
] as const;
export type Ending = (typeof endings)[number];

export type AffidavitMoment = "submit" | "close" | "on-demand";

type PostalStep = Step<PostalState, AffidavitMoment>;

export interface LetterPlan {
  service: ServiceType;
  hasTracking: boolean;
  disposalDays?: number | undefined;
  profile: AffidavitProfile;
  ending?: Ending | undefined;
  modifiers: readonly string[];
}

export const isPlainLetter = (journey: LetterPlan) =>
  journey.service === "Letter" && !journey.hasTracking && journey.disposalDays === undefined;

/** Why this service cannot end so (P2 §3.1, facts 4–8); undefined if it can. */
export function impossibleEnding(journey: LetterPlan): string | undefined {
  const { ending, service, disposalDays } = journey;
  const plain = isPlainLetter(journey);
  if (ending === "sent") return plain ? undefined : "only a plain Letter closes as Sent";
  if (ending === "disposed") {
    return service === "Letter" && disposalDays !== undefined
      ? undefined
      : "needs Letter with DisposalDaysAmmount";
  }
  if (ending === "undelivered" && service === "Letter")
    return "only Registered and LetterLite close as Undelivered";
  if (ending === "delivered-late" && service === "LetterLite")
    return "LetterLite cannot deliver after non-delivery";
  const untracked = ["failed", "failed-early", "cancellable", "open", "stalled", undefined];
  if (plain && !untracked.includes(ending)) return "a plain Letter has no delivery tracking";
  return undefined;
}

export function plan(journey: LetterPlan): PostalStep[] {
  const ending = journey.ending ?? (isPlainLetter(journey) ? "sent" : "delivered");
  if (ending === "stalled") return [];
  const has = (modifier: string) => journey.modifiers.includes(modifier);
  const on = (moment: "Submit" | "Close") => journey.profile.includes(`On${moment}`);
  const steps: PostalStep[] = [{ afterMs: 10 * MINUTE, state: "Processed" }];
  if (on("Submit") && !has("affidavits-never"))
    steps.push({ afterMs: 5 * MINUTE, affidavit: "submit" });
  if (ending === "failed-early") {
    steps.push(withOutcome("Failed", HOUR));
  } else {
    if (ending === "cancellable")
      steps.push({ ...withOutcome("Dispatched", 45 * DAY), inRealTime: true });
    else steps.push(withOutcome("Dispatched", 6 * HOUR));
    if (!isPlainLetter(journey)) steps.push({ afterMs: 6 * HOUR, state: "Issued" });
    steps.push(withOutcome("Sent", 12 * HOUR));
    steps.push(...afterSent(ending, journey));
  }
  const isOpen = ending === "open" || (ending === "disposed" && has("unclosed"));
  if (isOpen) return steps;
  steps.push({
    afterMs: ending === "expired" ? 30 * DAY : DAY,
    state: "Closed",
    ...finalOutcome(ending),
  });
  // Whether Basic yields one is not shown; the sandbox publishes it at close.
  if ((on("Close") || journey.profile === "Basic") && !has("affidavits-never")) {
    steps.push({ afterMs: has("affidavits-late") ? 10 * DAY : HOUR, affidavit: "close" });
  }
  if (has("affidavit-regenerated")) steps.push({ afterMs: 5 * DAY, affidavit: "regenerated" });
  if (has("affidavit-regenerated-new-id"))
    steps.push({ afterMs: 5 * DAY, affidavit: "regenerated-new-id" });
  return steps;
}

function withOutcome(state: PostalState, afterMs: number): PostalStep {
  return { afterMs, state, outcome: state };
}

function finalOutcome(ending: Ending): { outcome?: string } {
  if (ending === "expired") return { outcome: "Expired" };
  return ending === "rejected" ? { outcome: "Rejected" } : {};
}

function afterSent(ending: Ending, journey: LetterPlan): PostalStep[] {
  const undelivered = withOutcome("Undelivered", 5 * DAY);
  const delivered = (days: number) => withOutcome("Delivered", days * DAY);
  const failed = withOutcome("Failed", 5 * DAY);
  const disposed = withOutcome("Disposed", (journey.disposalDays ?? 1) * DAY);
  const steps: Partial<Record<Ending, PostalStep[]>> = {
    delivered: [delivered(2)],
    "delivered-late": [undelivered, delivered(4)],
    "delivered-after-60-days": [delivered(60)],
    undelivered: [undelivered],
    // A refusal has no state of its own (P2 §3.1): the state stays, the outcome says it.
    rejected: [{ afterMs: 2 * DAY, state: "Sent", outcome: "Rejected" }],
    failed: [failed],
    returned: [undelivered, failed],
    disposed: [undelivered, disposed],
    missing: [{ afterMs: 5 * DAY, state: "Missing" }, delivered(10)],
    cancellable: isPlainLetter(journey) ? [] : [delivered(2)],
  };
  return steps[ending] ?? [];
}

/** After a cancel: whether Closed follows is not shown; the sandbox closes unless told otherwise. */
export function planAfterCancel(
  pending: readonly PostalStep[],
  modifiers: readonly string[],
): PostalStep[] {
  const affidavits = pending.filter((step) => "affidavit" in step && step.affidavit === "submit");
  if (modifiers.includes("unclosed")) return affidavits;
  return [...affidavits, { afterMs: HOUR, state: "Closed", outcome: "Cancelled" }];
}
