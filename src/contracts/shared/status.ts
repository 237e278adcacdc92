// Every process has this status, and these parts of a result (docs/design.md §13).
import { z } from "zod";
import { attentionKinds } from "./failures.js";
import { EventAbout } from "./provider-event.js";
import { DocumentReference, Instant } from "./values.js";

export const Phase = z.enum(["submitting", "tracking", "waiting", "affidavits", "ended"]);
export type Phase = z.infer<typeof Phase>;

export const TimelineEntry = z.strictObject({
  at: Instant,
  source: z.enum(["process", "callback", "query", "person"]),
  /** Present if `at` is a time of the sandbox's clock, which may run faster than ours. */
  clock: z.literal("sandbox").optional(),
  event: z.string(),
  /** The name that a person stated. */
  by: z.string().optional(),
  /** The operator whose key signed the decision. */
  principal: z.string().optional(),
  note: z.string().optional(),
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;

/** The reason why a process needs an operator decision, and the decisions that `resolve` accepts. */
export const Attention = z.strictObject({
  id: z.string(),
  kind: z.enum(attentionKinds),
  step: z.string(),
  since: Instant,
  reason: z.string(),
  decisions: z.array(z.enum(["retry", "happened", "abandon"])),
  /** The members of `result` without which `happened` is refused. */
  happenedNeeds: z.array(z.string()).optional(),
  /** The members of the resolution that `retry` requires, because it may cause a second effect. */
  retryNeeds: z.array(z.string()).optional(),
  /** The proposal of one operator, which a second operator has to confirm. */
  proposed: z
    .strictObject({
      decision: z.enum(["retry", "happened", "abandon"]),
      at: Instant,
      by: z.string(),
      principal: z.string(),
      note: z.string().optional(),
    })
    .optional(),
});
export type Attention = z.infer<typeof Attention>;

/** A process that another one has started, as it saw it last. Decisions about it are made at its own id. */
export const ChildStatus = z.strictObject({
  process: z.string(),
  id: z.string(),
  /** The provider's state. */
  state: z.string().optional(),
  outcome: z.string().optional(),
  waitingFor: z.string().optional(),
  attention: Attention.pick({ id: true, kind: true, reason: true }).optional(),
});
export type ChildStatus = z.infer<typeof ChildStatus>;

/** A document that a process produced or used. */
export const ProcessDocument = z.strictObject({
  kind: z.enum([
    "submitted",
    "affidavit",
    "attachment",
    "contract",
    "signed",
    "conference",
    "audit",
    "answer",
  ]),
  document: DocumentReference,
  /** The provider gave it. */
  uniqueId: z.string().optional(),
  date: Instant.optional(),
  description: z.string().optional(),
  /** The on-demand request that this affidavit answers, and how that is known. */
  requestId: z.string().optional(),
  tiedBy: z.enum(["callback", "inferred"]).optional(),
});
export type ProcessDocument = z.infer<typeof ProcessDocument>;

/** Why a process failed: the type and the words of its `ApplicationFailure`, and the fields that it names. */
export const ShownFailure = z.strictObject({
  type: z.string(),
  message: z.string(),
  fields: z.array(z.strictObject({ path: z.string(), problem: z.string() })),
});
export type ShownFailure = z.infer<typeof ShownFailure>;

/**
 * A call that failed and is made again. The process learns of it only if waiting does not help, so a status has it from Temporal, which
 * makes the attempts.
 */
export const RetriedCall = z.strictObject({
  /** `trustflow` where the attempt itself did not end, or has a defect. */
  provider: z.string(),
  operation: z.string(),
  /** The host that was called; absent where the attempt called nobody. */
  host: z.string().optional(),
  /** In words of ours: `not sent (ENOTFOUND)`, `answered 503`. */
  cause: z.string(),
  /** The id that the provider gave the request. */
  requestId: z.string().optional(),
  /** The number of the attempt that comes next or is under way; the first is 1. */
  attempt: z.int(),
  /** Absent while the attempt is under way, or waits for a worker. */
  nextAttemptAt: Instant.optional(),
});
export type RetriedCall = z.infer<typeof RetriedCall>;

/** Provider ids by the provider's name for them. */
export const References = z.record(z.string(), z.string());
export type References = z.infer<typeof References>;

/** One callback said it beside its kind. No query confirms it: anyone who knows the callback address can report it. */
export const ReportedEvent = EventAbout.extend({ at: Instant, kind: z.string() });
export type ReportedEvent = z.infer<typeof ReportedEvent>;

const Shown = z.string().optional();

/** The newest query shows it of a communication, beside state, outcome and dates (P2 §2.5, §2.7). */
export const ShownItem = z.strictObject({
  siteName: Shown,
  xmissionResult: Shown,
  xmissionSummary: Shown,
  customLayoutLogoUrl: Shown,
  recipientName: Shown,
  address: z
    .strictObject({
      streetAddress: Shown,
      postalCode: Shown,
      locality: Shown,
      region: Shown,
      country: Shown,
    })
    .optional(),
  costCentre: Shown,
  /** The unit is not shown. */
  timeToLive: z.number().optional(),
});
export type ShownItem = z.infer<typeof ShownItem>;

/** The provider has said it of a communication and of its reader: personal data, which no memo has. */
export const said = {
  /** It has the first callbacks and the newest, at most 150 kB of them. */
  reported: z.array(ReportedEvent).optional(),
  shown: ShownItem.optional(),
};

export const ProcessStatus = z.strictObject({
  process: z.string(),
  id: z.string(),
  /** `unknown` until a worker has been at the first activity for a moment. */
  environment: z.enum(["production", "preproduction", "sandbox", "unknown"]),
  account: z.string(),
  phase: Phase,
  waitingFor: z.string().optional(),
  /** When the wait ends in any case: the deadline of the process, not its next query. */
  until: Instant.optional(),
  /** While the process waits for a code: how many tries and further codes the process allows. The provider may have limits of its own. */
  code: z
    .strictObject({ triesLeft: z.int().nonnegative(), resendsLeft: z.int().nonnegative() })
    .optional(),
  /** The provider's state at the newest query. */
  state: z.string().optional(),
  /** The state that the callbacks report; not confirmed. */
  reportedState: z.string().optional(),
  outcome: z.string().optional(),
  references: References,
  attention: Attention.optional(),
  /** The other attentions, if several steps need a decision at once. */
  moreAttentions: z.array(Attention).optional(),
  /** Calls that failed and are made again. */
  retrying: z.array(RetriedCall).optional(),
  /** Present if the process failed. */
  failure: ShownFailure.optional(),
  /** The newest entries; of a process that has ended with a result, all. */
  timeline: z.array(TimelineEntry),
  /** The number of entries that `timeline` leaves out. */
  earlierEntries: z.int().positive().optional(),
  /** `reported` and `shown` are in a full status alone, which a worker gives. */
  ...said,
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

export interface ProcessResult {
  process: string;
  id: string;
  outcome: string;
  providerOutcome?: string | undefined;
  references: References;
  dates: Record<string, string | undefined>;
  documents: ProcessDocument[];
  timeline: TimelineEntry[];
  reported?: ReportedEvent[] | undefined;
  shown?: ShownItem | undefined;
}

/** The results of all processes share these members; `dates` are the process's own. */
export function processResult<
  P extends z.ZodType,
  O extends z.ZodType,
  D extends z.ZodType,
>(parts: { process: P; outcome: O; dates: D }) {
  return z.strictObject({
    process: parts.process,
    id: z.string(),
    outcome: parts.outcome,
    /** The provider's own outcome, if `outcome` is `other` or set by us. */
    providerOutcome: z.string().optional(),
    references: References,
    dates: parts.dates,
    documents: z.array(ProcessDocument),
    timeline: z.array(TimelineEntry),
  });
}
