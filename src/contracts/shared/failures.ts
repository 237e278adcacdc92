// The types of a failed process and of a failed activity (docs/design.md §2, §5, §13). No zod: workflows import this file.
import type { ProblemKind } from "./problem-kind.js";

/** `ApplicationFailure.type` of a failed process: its effect does not exist, or an operator abandoned it. */
export const processFailures = [
  "InvalidInput",
  "InputMismatch",
  "NotAccepted",
  "Abandoned",
] as const;
export type ProcessFailure = (typeof processFailures)[number];

export interface FieldProblem {
  /** Dotted path in the caller's spelling, for example `recipientAddress.region`. */
  path: string;
  problem: string;
}

/** The problem of the field `id`: what was sent under it is no longer known, so it could be sent twice. */
export const erasedProblem = "was erased: use another id";

/** `details[0]` by failure type. */
export interface FailureDetails {
  InvalidInput: { fields: FieldProblem[] };
  InputMismatch: { problem: string };
  NotAccepted: { provider: string; code?: string; fields: FieldProblem[] };
  Abandoned: {
    attention: string;
    effect: "none" | "unknown" | "exists";
    by: string;
    principal?: string;
    proposedBy?: string;
    note?: string;
  };
}

/** The kinds of an attention; the value of the search attribute `TrustflowAttention`. */
export const attentionKinds = [
  "accessDenied",
  "unavailable",
  "unknownOutcome",
  "protocol",
  "cancelRequested",
  "failureBudget",
] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** `details[0]` of every activity failure, encrypted with the failure. */
export interface Problem {
  /** `withdrawn`: the effect was called off before it was sent; `unchanged`: a retry that only waits. */
  kind: ProblemKind | "withdrawn" | "unchanged" | ProcessFailure;
  provider: string;
  operation: string;
  environment: string;
  account: string;
  status?: number;
  code?: string;
  requestId?: string;
  /** The id in an answer that is otherwise unusable. */
  reference?: string;
  /** The problem of the answer in our own words, such as the media type or the missing member; never a value of the answer. */
  problem?: string;
  fields: FieldProblem[];
  detail?: string;
  /** Of `unknownOutcome`: why an empty look-up at this account proves nothing. */
  lookUp?: "unproven" | "late" | "missing";
}
