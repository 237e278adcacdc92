// Every process has this status, and these parts of a result (docs/design.md §13).
import { z } from "zod";
import type { AttentionKind } from "./failures.js";
import { EventAbout } from "./provider-event.js";
import { DocumentReference, Instant } from "./values.js";
import { words } from "./words.js";

export const Phase = words(
  {
    submitting: "nothing has reached the provider yet, as far as is known",
    tracking: "the process follows what the provider has",
    waiting: "the process waits for a person, such as for a code, or for a scheduled start",
    affidavits: "it has ended at the provider, and affidavits are still fetched",
    ended: "the process has ended",
  },
  "Where the process stands.",
);
export type Phase = z.infer<typeof Phase>;

export const TimelineEntry = z.strictObject({
  at: Instant.describe("When it happened, RFC 3339 in UTC."),
  source: words(
    {
      process: "the process did it",
      callback: "a callback reported it",
      query: "an answer of the provider showed it",
      person: "a person did it",
    },
    "From where it is known.",
  ),
  clock: z
    .literal("sandbox")
    .optional()
    .describe("Present if `at` is a time of the sandbox's clock, which may run faster than ours."),
  event: z.string().describe("What happened."),
  by: z.string().optional().describe("The name that the person stated."),
  principal: z.string().optional().describe("The operator whose key signed the decision."),
  note: z.string().optional().describe("More about it, such as the reason of a decision."),
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;

const decisions = z.enum(["retry", "happened", "abandon"]);

/** The reason why a process needs an operator decision, and the decisions that `resolve` accepts. */
export const Attention = z.strictObject({
  id: z.string().describe("Its id, which `resolve` names."),
  kind: words({
    accessDenied: "the provider refuses the credentials, or the account lacks a right or a balance",
    unavailable: "the provider or the database has been unreachable for long",
    unknownOutcome: "a call may have had its effect, and no look-up can tell",
    protocol: "the provider's answer does not fit the specification or what was sent",
    cancelRequested: "a cancellation was asked for, and the process has no update for it",
    failureBudget: "more recipients of a batch failed than the failure budget allows",
  } satisfies Record<AttentionKind, string>),
  step: z.string().describe("The step that cannot go on."),
  since: Instant.describe("Since when, RFC 3339 in UTC."),
  reason: z.string().describe("What happened, in words."),
  lookFor: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Where the outcome of an effect is unknown: members of the call by which a person may find it in the provider's portal, such as the lookup key and the recipient.",
    ),
  attempts: z
    .array(
      z.strictObject({
        from: Instant.describe("Not before this time, RFC 3339 in UTC."),
        until: Instant.describe("Not after this time, RFC 3339 in UTC."),
      }),
    )
    .optional()
    .describe(
      "Where the outcome of an effect is unknown: when this run called the provider, the oldest first, at most the newest 10.",
    ),
  decisions: z.array(decisions).describe("The decisions that it takes."),
  happenedNeeds: z
    .array(z.string())
    .optional()
    .describe("The members of `result` without which `happened` is refused."),
  retryNeeds: z
    .array(z.string())
    .optional()
    .describe(
      "The members of the resolution that `retry` requires, because it may cause a second effect.",
    ),
  proposed: z
    .strictObject({
      decision: decisions.describe("The proposed decision."),
      at: Instant.describe("When it was proposed, RFC 3339 in UTC."),
      by: z.string().describe("The name that the operator stated."),
      principal: z.string().describe("The operator whose key signed the proposal."),
      note: z.string().optional().describe("The reason of the proposal."),
    })
    .optional()
    .describe("The proposal of one operator, which a second operator has to confirm."),
});
export type Attention = z.infer<typeof Attention>;

/** A process that another one has started, as it saw it last. Decisions about it are made at its own id. */
export const ChildStatus = z.strictObject({
  process: z.string().describe("The name of the process."),
  id: z.string().describe("Its business id."),
  state: z.string().optional().describe("The provider's state."),
  outcome: z.string().optional().describe("Its outcome."),
  waitingFor: z.string().optional().describe("What it waits for."),
  attention: Attention.pick({ id: true, kind: true, reason: true })
    .optional()
    .describe("The decision that it needs, which is made at its own id."),
});
export type ChildStatus = z.infer<typeof ChildStatus>;

export const ProcessDocument = z.strictObject({
  kind: words({
    submitted: "what was submitted",
    affidavit: "a signed PDF of evidence by the provider",
    attachment: "an attachment",
    contract: "the contract of a signature",
    signed: "a signed document",
    conference: "the data of a conference",
    audit: "the audit of a call",
    answer: "the answer of a provider",
  }),
  document: DocumentReference,
  uniqueId: z.string().optional().describe("The provider's id of it."),
  date: Instant.optional().describe("The provider's date of it, RFC 3339 in UTC."),
  arrivedAt: Instant.optional().describe(
    "When the process fetched it, RFC 3339 in UTC; absent of what came with the input.",
  ),
  description: z.string().optional().describe("The provider's description of it."),
  requestId: z
    .string()
    .optional()
    .describe("The request for an affidavit on demand that this affidavit answers."),
  tiedBy: words(
    {
      callback: "a callback named the request",
      inferred: "no other request was waiting",
    },
    "How it is known that it answers the request.",
  ).optional(),
});
export type ProcessDocument = z.infer<typeof ProcessDocument>;

/** An operator's `abandon`, with which a process ended. */
const Abandonment = z.strictObject({
  attention: z.string().describe("The attention that was decided."),
  effect: words(
    {
      none: "nothing exists at the provider",
      unknown: "something may exist at the provider",
      exists: "something exists at the provider",
    },
    "What exists at the provider.",
  ),
  by: z.string().describe("The name that the operator stated."),
  principal: z.string().optional().describe("The operator whose key signed the decision."),
  proposedBy: z.string().optional().describe("The operator who proposed it to a second one."),
  note: z.string().optional().describe("The reason of the decision."),
});

/** Why a process failed: the type and the words of its `ApplicationFailure`, and the fields that it names. */
export const ShownFailure = z.strictObject({
  type: z.string().describe("The type of the failure, such as `NotAccepted` (docs/errors.md)."),
  message: z.string().describe("What happened, in words."),
  fields: z
    .array(
      z.strictObject({
        path: z.string().describe("The field, such as `recipientAddress.region`."),
        problem: z.string().describe("What is wrong with it."),
      }),
    )
    .describe("The fields of the input that are wrong."),
  abandoned: Abandonment.optional().describe("The decision, if an operator abandoned it."),
});
export type ShownFailure = z.infer<typeof ShownFailure>;

/**
 * The process learns of such a call only if waiting does not help, so a status has it from Temporal, which makes the attempts.
 */
export const RetriedCall = z.strictObject({
  provider: z
    .string()
    .describe(
      "The provider; `trustflow` where the reason is not a provider: the attempt did not end, has a defect, or cannot use the document store.",
    ),
  operation: z.string().describe("The operation of the provider."),
  host: z
    .string()
    .optional()
    .describe("The host that was called; absent where the attempt called nobody."),
  cause: z.string().describe("In words of ours: `not sent (ENOTFOUND)`, `answered 503`."),
  requestId: z.string().optional().describe("The id that the provider gave the request."),
  attempt: z
    .int()
    .describe("The number of the attempt that comes next or is under way; the first is 1."),
  nextAttemptAt: Instant.optional().describe(
    "When the next attempt begins, RFC 3339 in UTC; absent while one is under way, or waits for a worker.",
  ),
});
export type RetriedCall = z.infer<typeof RetriedCall>;

export const References = z
  .record(z.string(), z.string())
  .describe("The provider's ids, by the provider's names for them.");
export type References = z.infer<typeof References>;

/** One callback said it beside its kind. No query confirms it: anyone who knows the callback address can report it. */
export const ReportedEvent = EventAbout.extend({
  at: Instant.describe("The time of the event, RFC 3339 in UTC."),
  kind: z.string().describe("The kind of the event, as the provider spells it."),
});
export type ReportedEvent = z.infer<typeof ReportedEvent>;

const shown = (name: string) => z.string().optional().describe(name);

/** The newest query shows it of a communication, beside state, outcome and dates (P2 §2.5, §2.7). */
export const ShownItem = z.strictObject({
  siteName: shown("`SiteName` of a notice (P2 §2.7)."),
  xmissionResult: shown("`XmissionResult` of a notice (P2 §2.7)."),
  xmissionSummary: shown("`XmissionSummary` of a notice (P2 §2.7)."),
  customLayoutLogoUrl: shown("`CustomLayoutLogoUrl` of a notice (P2 §2.7)."),
  recipientName: shown("The name of the recipient (P2 §2.5)."),
  address: z
    .strictObject({
      streetAddress: shown("Street name and number."),
      postalCode: shown("The postal code."),
      locality: shown("City or town."),
      region: shown("Region or province."),
      country: shown("The country."),
    })
    .optional()
    .describe("The address of the recipient (P2 §2.5)."),
  costCentre: shown("The group for billing and reports (P2 §2.5)."),
  timeToLive: z.number().optional().describe("`timeToLive`; its unit is not shown (P2 §2.5)."),
});
export type ShownItem = z.infer<typeof ShownItem>;

/** The provider has said it of a communication and of its reader: personal data, which no memo has. */
export const said = {
  reported: z
    .array(ReportedEvent)
    .optional()
    .describe(
      "What callbacks said: the first ones and the newest, at most 150 kB. Nothing confirms it. Personal data.",
    ),
  shown: ShownItem.optional().describe("What the newest query shows of the item. Personal data."),
};

export const ProcessStatus = z.strictObject({
  process: z.string().describe("The name of the process."),
  id: z.string().describe("The business id that the caller chose."),
  environment: z
    .enum(["production", "preproduction", "sandbox", "unknown"])
    .describe(
      "The environment of the account; `unknown` until a worker has been at the first activity for a moment.",
    ),
  account: z.string().describe("The configured account."),
  phase: Phase,
  waitingFor: z.string().optional().describe("What the process waits for, in words."),
  until: Instant.optional().describe(
    "When the wait ends in any case, RFC 3339 in UTC: the deadline of the process, not its next query.",
  ),
  code: z
    .strictObject({
      triesLeft: z.int().nonnegative().describe("How many tries the process still allows."),
      resendsLeft: z.int().nonnegative().describe("How many further codes it still allows."),
    })
    .optional()
    .describe(
      "Present while the process waits for a code. The provider may have limits of its own.",
    ),
  state: z.string().optional().describe("The provider's state at the newest query."),
  reportedState: z
    .string()
    .optional()
    .describe("The state that callbacks report; no query has confirmed it."),
  outcome: z.string().optional().describe("The outcome, once it is known."),
  references: References,
  attention: Attention.optional().describe(
    "Why the process needs an operator's decision; absent if it needs none.",
  ),
  moreAttentions: z
    .array(Attention)
    .optional()
    .describe("The other attentions, if several steps need a decision at once."),
  retrying: z.array(RetriedCall).optional().describe("Calls that failed and are made again."),
  failure: ShownFailure.optional().describe("Why the process failed; absent if it did not."),
  timeline: z
    .array(TimelineEntry)
    .describe("The newest entries; of a process that has ended with a result, all."),
  earlierEntries: z.int().positive().optional().describe("How many entries `timeline` leaves out."),
  /** They are in a full status alone, which a worker gives. */
  ...said,
  documents: z
    .array(ProcessDocument)
    .optional()
    .describe("The documents that the process has so far; in a full status alone."),
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

/** The results of all processes share these members; `dates` are the process's own. */
export function processResult<
  P extends z.ZodType,
  O extends z.ZodType,
  D extends z.ZodType,
>(parts: { process: P; outcome: O; dates: D }) {
  return z.strictObject({
    process: parts.process.describe("The name of the process."),
    id: z.string().describe("The business id that the caller chose."),
    outcome: parts.outcome,
    providerOutcome: z
      .string()
      .optional()
      .describe("The provider's own outcome, if `outcome` is `other` or Trustflow's."),
    references: References,
    dates: parts.dates.describe("When what happened, RFC 3339 in UTC."),
    documents: z
      .array(ProcessDocument)
      .describe("What the process used and what it fetched, in the document store."),
    timeline: z.array(TimelineEntry).describe("What happened, the oldest first."),
  });
}

const AnyResult = processResult({
  process: z.string(),
  outcome: z.string(),
  dates: z.record(z.string(), z.string().optional()),
}).extend(said);
export type ProcessResult = z.infer<typeof AnyResult>;
