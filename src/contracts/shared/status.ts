// What every process shows of itself while it runs, and the parts that every result shares (docs/design.md §13).
import { z } from "zod";
import { attentionKinds } from "./failures.js";
import { DocumentReference, Instant } from "./values.js";

export const Phase = z.enum(["submitting", "tracking", "waiting", "affidavits", "ended"]);
export type Phase = z.infer<typeof Phase>;

export const TimelineEntry = z.strictObject({
  at: Instant,
  source: z.enum(["process", "callback", "query", "person"]),
  event: z.string(),
  /** The name that a person stated. */
  by: z.string().optional(),
  /** The operator whose key signed it. */
  principal: z.string().optional(),
  note: z.string().optional(),
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;

/** A process that waits for a person: what happened, and which decisions `resolve` takes. */
export const Attention = z.strictObject({
  id: z.string(),
  kind: z.enum(attentionKinds),
  step: z.string(),
  since: Instant,
  reason: z.string(),
  decisions: z.array(z.enum(["retry", "happened", "abandon"])),
  /** The members of `result` without which `happened` is refused. */
  happenedNeeds: z.array(z.string()).optional(),
  /** The members of the resolution without which `retry` is refused: it may make a second effect. */
  retryNeeds: z.array(z.string()).optional(),
  /** What an operator has decided, and a second one has to decide alike. */
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

/** A document that a process produced or used. */
export const ProcessDocument = z.strictObject({
  kind: z.enum(["submitted", "affidavit", "contract", "signed"]),
  document: DocumentReference,
  /** The provider's id of it. */
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

/** Provider ids by the provider's name for them. */
export const References = z.record(z.string(), z.string());
export type References = z.infer<typeof References>;

export const ProcessStatus = z.strictObject({
  process: z.string(),
  id: z.string(),
  /** `unknown` until the first activity has answered. */
  environment: z.enum(["production", "preproduction", "sandbox", "unknown"]),
  account: z.string(),
  phase: Phase,
  waitingFor: z.string().optional(),
  until: Instant.optional(),
  /** The provider's state at the newest query. */
  state: z.string().optional(),
  /** What the callbacks claim; not confirmed. */
  reportedState: z.string().optional(),
  outcome: z.string().optional(),
  references: References,
  attention: Attention.optional(),
  /** The others, where several steps wait for a person at once. */
  moreAttentions: z.array(Attention).optional(),
  /** Where the process ended as failed. */
  failure: ShownFailure.optional(),
  timeline: z.array(TimelineEntry),
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

/** What the result of any process has. */
export interface ProcessResult {
  process: string;
  id: string;
  outcome: string;
  providerOutcome?: string | undefined;
  references: References;
  dates: Record<string, string | undefined>;
  documents: ProcessDocument[];
  timeline: TimelineEntry[];
}

/** What the results of all processes share; `dates` are the process's own. */
export function processResult<P extends z.ZodType, O extends z.ZodType, D extends z.ZodType>(own: {
  process: P;
  outcome: O;
  dates: D;
}) {
  return z.strictObject({
    process: own.process,
    id: z.string(),
    outcome: own.outcome,
    /** The provider's word, where `outcome` is `other` or ours. */
    providerOutcome: z.string().optional(),
    references: References,
    dates: own.dates,
    documents: z.array(ProcessDocument),
    timeline: z.array(TimelineEntry),
  });
}
