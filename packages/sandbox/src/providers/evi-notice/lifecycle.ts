// The way of a notice from submit to its end, as steps with virtual delays (P2 §3.2, §3.4).
import type { Step } from "../evi/item.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const states = [
  "Draft",
  "Submitted",
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Received",
  "Read",
  "Replied",
  "Closed",
  "Failed",
] as const;
export type NoticeState = (typeof states)[number];

export const endings = [
  "read",
  "accepted",
  "rejected",
  "refused",
  "received",
  "delivered",
  "sent",
  "failed",
  "failed-recovered",
  "certified",
  "cancelled",
  "open",
  "stalled",
] as const;
export type Ending = (typeof endings)[number];

/** P2 §2.6. */
export const affidavitKinds = [
  "Submitted",
  "SubmittedAdvanced",
  "Dispatched",
  "TransmissionResult",
  "DeliveryResult",
  "Received",
  "Read",
  "Committed",
  "CommittedAdvanced",
  "Refused",
  "Closed",
  "ClosedAdvanced",
  "Event",
  "Complete",
  "CompleteAdvanced",
  "OnDemand",
  "ContentDownload",
  "Failed",
] as const;
export type AffidavitKind = (typeof affidavitKinds)[number];

type NoticeStep = Step<NoticeState, AffidavitKind>;

export interface NoticePlan {
  ending?: Ending | undefined;
  modifiers: readonly string[];
  /** `CommitmentChoice`, or `CommitmentOptions` of a batch. */
  commitment: string;
  isRefusalAllowed: boolean;
  timeToLiveMinutes: number;
  /** Tracked until the time to live is over, whatever comes before. */
  isTrackedToTheEnd: boolean;
  affidavitKinds: readonly AffidavitKind[];
}

/** Why such a notice cannot end so; undefined if it can. */
export function impossibleEnding({
  ending,
  commitment,
  isRefusalAllowed,
}: NoticePlan): string | undefined {
  const may = (answer: string) => commitment === answer || commitment === "AcceptOrReject";
  if (ending === "accepted" && !may("Accept")) return "needs a commitment that can be accepted";
  if (ending === "rejected" && !may("Reject")) return "needs a commitment that can be rejected";
  if (ending === "refused" && !isRefusalAllowed) return "needs AllowRefusal";
  return undefined;
}

export function plan(given: NoticePlan): NoticeStep[] {
  const { ending = "read" } = given;
  if (ending === "stalled") return [];
  const moves = movesOf[ending];
  const end = ending === "open" ? [] : [closing(ending, moves, given)];
  const steps = [...moves, ...end].flatMap((move) => [move, ...affidavitsAt(move, given)]);
  if (given.modifiers.includes("affidavit-regenerated"))
    steps.push({ afterMs: 5 * DAY, affidavit: "regenerated" });
  if (given.modifiers.includes("affidavit-regenerated-new-id"))
    steps.push({ afterMs: 5 * DAY, affidavit: "regenerated-new-id" });
  return steps;
}

type Move = Extract<NoticeStep, { state: NoticeState }>;

const sent: Move = { afterMs: 2 * MINUTE, state: "Sent", outcome: "Sent" };
const onTheWay: Move[] = [
  { afterMs: MINUTE, state: "Processed", outcome: "Certified" },
  { afterMs: MINUTE, state: "Dispatched" },
  sent,
];
const failed: Move = { afterMs: 10 * MINUTE, state: "Failed" };
const toDelivered: Move[] = [{ afterMs: 5 * MINUTE, state: "Delivered", outcome: "Delivered" }];
const toReceived: Move[] = [
  ...toDelivered,
  { afterMs: 2 * HOUR, state: "Received", outcome: "Received" },
];
const toRead: Move[] = [...toReceived, { afterMs: MINUTE, state: "Read", outcome: "Read" }];
const replied = (outcome: string): Move => ({ afterMs: HOUR, state: "Replied", outcome });

const movesOf: Record<Ending, Move[]> = {
  read: [...onTheWay, ...toRead],
  accepted: [...onTheWay, ...toRead, replied("Accepted")],
  rejected: [...onTheWay, ...toRead, replied("Rejected")],
  refused: [...onTheWay, ...toDelivered],
  received: [...onTheWay, ...toReceived],
  delivered: [...onTheWay, ...toDelivered],
  sent: onTheWay,
  failed: [...onTheWay, failed],
  "failed-recovered": [...onTheWay, failed, { ...sent, afterMs: HOUR }, ...toRead],
  certified: onTheWay.slice(0, 1),
  cancelled: onTheWay.slice(0, 1),
  open: [...onTheWay, ...toDelivered],
  stalled: [],
};

const outcomes: Partial<Record<Ending, string>> = {
  refused: "Refused",
  failed: "Failed",
  cancelled: "Cancelled",
};

/** What was not answered is tracked until its time to live is over. */
function closing(ending: Ending, moves: Move[], given: NoticePlan): Move {
  const outcome = outcomes[ending];
  const soFar = moves.reduce((sum, { afterMs }) => sum + afterMs, 0);
  const rest = Math.max(HOUR, given.timeToLiveMinutes * MINUTE - soFar);
  const isOver = ["read", "accepted", "rejected", "refused", "certified", "cancelled"].includes(
    ending === "failed-recovered" ? "read" : ending,
  );
  const afterMs = isOver && !given.isTrackedToTheEnd ? HOUR : rest;
  return { afterMs, state: "Closed", ...(outcome !== undefined && { outcome }) };
}

/** By which state an affidavit of a kind is made; those of the end come after it. */
const madeAt: Record<Exclude<AffidavitKind, "OnDemand">, NoticeState> = {
  Submitted: "Processed",
  SubmittedAdvanced: "Processed",
  Dispatched: "Dispatched",
  TransmissionResult: "Sent",
  Event: "Sent",
  DeliveryResult: "Delivered",
  Received: "Received",
  Read: "Read",
  Committed: "Replied",
  CommittedAdvanced: "Replied",
  Failed: "Failed",
  Refused: "Closed",
  Closed: "Closed",
  ClosedAdvanced: "Closed",
  Complete: "Closed",
  CompleteAdvanced: "Closed",
  ContentDownload: "Closed",
};

function affidavitsAt(
  { state, outcome }: Move,
  { affidavitKinds, modifiers }: NoticePlan,
): NoticeStep[] {
  if (modifiers.includes("affidavits-never")) return [];
  const late = state === "Closed" && modifiers.includes("affidavits-late");
  return affidavitKinds.flatMap((kind) => {
    if (kind === "OnDemand" || madeAt[kind] !== state) return [];
    if (kind === "Refused" && outcome !== "Refused") return [];
    return [{ afterMs: late ? 10 * DAY : MINUTE, affidavit: kind }];
  });
}
