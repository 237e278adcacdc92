// A failed process, and a failed activity, have one of these types (docs/design.md §2, §5, §13). No zod: workflows import this file.
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

/** As each refusal of an input says it. */
export function problemsInWords(fields: readonly FieldProblem[]): string {
  return fields.map(({ path, problem }) => `${path}: ${problem}`).join("; ");
}

/** The field `id` gets it: what was sent under the id is no longer known, so it could be sent twice. */
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

/** What a status shows of the `ApplicationFailure` that ended a process. */
export function shownFailure({ type, message, details }: ProcessApplicationFailure) {
  const [detail = {}] = (details ?? []) as { fields?: FieldProblem[] }[];
  return {
    type: type ?? "Error",
    message,
    fields: detail.fields ?? [],
    ...(type === "Abandoned" && { abandoned: detail as FailureDetails["Abandoned"] }),
  };
}

interface ProcessApplicationFailure {
  type?: string | undefined | null;
  message: string;
  details?: unknown[] | undefined | null;
}

/** The search attribute `TrustflowAttention` has one of them. */
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
  /** The host that was called, with its port. */
  host?: string;
  environment: string;
  account: string;
  status?: number;
  code?: string;
  requestId?: string;
  /** The id in an answer that is otherwise unusable. */
  reference?: string;
  /** Says in our own words what is wrong with the answer, such as the media type or the missing member; never a value of the answer. */
  problem?: string;
  fields: FieldProblem[];
  detail?: string;
  /** Only `unknownOutcome` has it: the journal's token of the call, which some providers are sent as a key of the item. */
  ownKey?: string;
  /** Only `unknownOutcome` has it: why an empty look-up at this account proves nothing. */
  lookUp?: "unproven" | "late" | "missing" | "reported";
}

/** Why an attempt failed for which no provider is the reason, by the name of its error. */
export function ownCauseOf(name: string): string {
  switch (name) {
    case "Timeout":
      return "the attempt did not end: its worker may be gone";
    case "DocumentStoreFullError":
      return "the document store is full";
    case "DocumentStoreUnavailableError":
      return "the document store cannot be used";
    default:
      return `a defect${/^\w{1,80}$/.test(name) ? ` (${name})` : ""}: see the worker's log`;
  }
}

/** Says why a call failed, in our own words and without a value of the answer: `answered 503`, `not sent (ENOTFOUND)`. */
export function causeIn({
  kind,
  problem,
  code,
}: Pick<Problem, "kind" | "problem" | "code">): string {
  return `${problem ?? kind}${code === undefined ? "" : ` (${code})`}`;
}
