// Says what is done next with an effect: one pure function of its row, its effect class and the cause for which the row is read.
// journal.ts carries the action out for an activity, decisions.ts for a person; rows.ts writes the states that it names.
//
// An activity asks for the effect (`call`). "Look up: X" means: ask the provider, and do X where it finds nothing.
//
// | row                                       | repeatable | keyed                       | lookup                         | once    |
// |-------------------------------------------|------------|-----------------------------|--------------------------------|---------|
// | none                                      | take       | take                        | take                           | take    |
// | `notSent`, its lease runs                 | wait       | wait                        | wait                           | wait    |
// | `notSent`                                 | take       | take                        | take                           | take    |
// | `notSent`, after a denial or `uncertain`  | look up: take, for each class with a look-up; else take                              |
// | `sending`, held, its lease runs           | wait       | wait                        | wait                           | wait    |
// | `sending`, its call is over, lease runs   | wait       | look up: look again         | look up: look again            | unknown |
// | `sending`, lease over, looked up never    | take       | look up: look again         | look up: take if proven (2)    | unknown |
// | `sending`, lease over, one empty look-up  | take       | look up: take if proven (1) | look up: take if proven (1)    | unknown |
// | `answered`                                | answer     | answer                      | answer                         | answer  |
// | `refused`                                 | refuse     | refuse                      | refuse                         | refuse  |
// | `withdrawn`                               | withdrawn  | withdrawn                   | withdrawn                      | withdrawn |
//
// (1) Only once the spacing between two look-ups is over. A refusal that waits in the row counts then, and nothing is sent.
// (2) Look again instead, where the activity's own call has just got no answer: the provider may still work on it.
// `keyed` and `lookup` without a look-up are as `once`. A row that another one replaces needs no proof, and blocks nothing
// if there is no look-up. Another input: mismatch where the effect may exist, else `refused` is as `notSent`.
//
// An activity that may only look (`watch`) never takes a row: where the table says anything but wait, answer, refuse or withdrawn,
// it looks up and, if nothing is found, ends as unknown; a `sending` row goes on by the table above once the look-up is proven.
//
// A person decides, or the process withdraws the step:
//
// | row                    | retry (3)                                             | happened | abandon | withdrawal |
// |------------------------|-------------------------------------------------------|----------|---------|------------|
// | none, `notSent`        | keep                                                  | store    | hold    | withdraw, if not `uncertain` |
// | `sending`, lease runs  | lease runs                                            | store    | keep    | keep       |
// | `sending`, lease over  | `keyed`: send again with the same token; else: replace | store    | keep    | keep       |
// | `answered`             | keep                                                  | keep     | keep    | keep       |
// | `refused`              | keep                                                  | store    | hold    | withdraw   |
// | `withdrawn`            | keep                                                  | store    | keep    | keep       |
//
// The run that goes on may have another input than the row: where the row proves that nothing exists, what `store` and `withdraw` write into
// it is for any input.
//
// (3) Confirmed with a note, and for `once` or where the operator saw that the outcome is unknown. Any other retry: keep.
import type { EffectClass } from "./effect.js";
import { mayExist } from "./row.js";
import type { Known, Row, State } from "./row.js";

export type RowFacts = Pick<
  Row,
  | "state"
  | "tokenGeneration"
  | "uncertain"
  | "absent"
  | "held"
  | "leaseLeft"
  | "absentFor"
  | "answer"
  | "nextOccurrence"
> & { hasOtherInput: boolean };

export type CallCause =
  | {
      by: "call";
      /** The activity's own call has just ended without an answer that counts. */
      isAnswerLost: boolean;
      canLookUp: boolean;
      /** Between two look-ups. */
      spacingMs: number;
    }
  | { by: "watch" };

export type PersonCause =
  | {
      by: "retry";
      /** The operator gave a note and confirmed that the effect may already exist. */
      isConfirmed: boolean;
      /** The operator saw that the outcome is unknown, whatever the look-up says. */
      nobodyKnows: boolean;
    }
  | { by: "happened" | "abandon" | "withdrawal" };

/** The action if the look-up finds nothing. */
export type IfAbsent =
  /** `isFirst`: this look-up is noted as the first empty one. */
  | { do: "lookAgain"; ms: number; isFirst: boolean }
  /** `needsProof`: only if the look-up is known to find our items; else the outcome is unknown, with the reason. */
  | { do: "take" | "refuse" | "unknown" | "goOn"; needsProof: boolean };

export type CallAction =
  | { do: "take" | "answer" | "refuse" | "withdrawn" | "unknown" | "mismatch" }
  | { do: "wait" | "lookAgain"; ms: number }
  | { do: "lookUp"; ifAbsent: IfAbsent };

/**
 * `sendAgain`: the same row with the same token; `replace`: a new row with its own token; `hold`: no sender may send for the
 * duration of a lease.
 */
export type PersonAction =
  | "keep"
  | "leaseRuns"
  | "sendAgain"
  | "replace"
  | "store"
  | "hold"
  | "withdraw";

export function nextAction(
  row: RowFacts | undefined,
  effectClass: EffectClass,
  cause: CallCause,
): CallAction;
export function nextAction(
  row: RowFacts | undefined,
  effectClass: EffectClass,
  cause: PersonCause,
): PersonAction;
export function nextAction(
  row: RowFacts | undefined,
  effectClass: EffectClass,
  cause: CallCause | PersonCause,
): CallAction | PersonAction {
  switch (cause.by) {
    case "call":
    case "watch":
      return forActivity(row, effectClass, cause);
    case "retry":
      return forRetry(row, effectClass, cause);
    case "happened":
      return row?.state === "answered" ? "keep" : "store";
    case "abandon":
      return isSendable(row) ? "hold" : "keep";
    case "withdrawal":
      return isSendable(row) && !row?.uncertain ? "withdraw" : "keep";
  }
}

/** For some input, an attempt may take the row and send, at most after a look-up. */
function isSendable(row: RowFacts | undefined): boolean {
  return row === undefined || row.state === "notSent" || row.state === "refused";
}

function forActivity(
  row: RowFacts | undefined,
  effectClass: EffectClass,
  cause: CallCause,
): CallAction {
  if (row === undefined) return unsent(undefined, effectClass, cause);
  if (row.hasOtherInput && mayExist(row)) return { do: "mismatch" };
  switch (row.state) {
    case "answered":
      return { do: "answer" };
    case "refused":
      return row.hasOtherInput ? unsent(row, effectClass, cause) : { do: "refuse" };
    case "withdrawn":
      return { do: "withdrawn" };
    case "notSent":
      return unsent(row, effectClass, cause);
    case "sending":
      return row.held && row.leaseLeft > 0
        ? leaseOf("wait", row)
        : unanswered(row, effectClass, cause);
  }
}

/** The row allows a send, at most after a look-up, once no lease runs. */
function unsent(row: RowFacts | undefined, effectClass: EffectClass, cause: CallCause): CallAction {
  if (row && row.leaseLeft > 0) return leaseOf("wait", row);
  if (cause.by === "watch")
    return lookUp({ do: "unknown", needsProof: provesByLookUp[effectClass] });
  const mustAsk = row !== undefined && (row.tokenGeneration > 0 || row.uncertain);
  return mustAsk && cause.canLookUp ? lookUp({ do: "take", needsProof: false }) : { do: "take" };
}

/** It was sent, no sender holds it any more, and no answer is known. */
function unanswered(row: RowFacts, effectClass: EffectClass, cause: CallCause): CallAction {
  if (cause.by === "watch") {
    const isProof = provesByLookUp[effectClass];
    return lookUp({ do: isProof ? "goOn" : "unknown", needsProof: isProof });
  }
  if (effectClass === "repeatable")
    return row.leaseLeft > 0 ? leaseOf("wait", row) : { do: "take" };
  if (!provesByLookUp[effectClass] || !cause.canLookUp)
    return { do: row.nextOccurrence === null ? "unknown" : "take" };
  const spacingLeft = row.absent > 0 ? Math.ceil(cause.spacingMs - row.absentFor) : 0;
  if (spacingLeft > 0) return { do: "lookAgain", ms: spacingLeft };
  // One empty look-up proves nothing while the call may still be worked on.
  const needsTwo = effectClass === "keyed" || cause.isAnswerLost;
  if (row.absent === 0 && needsTwo)
    return lookUp({ do: "lookAgain", ms: cause.spacingMs, isFirst: true });
  if (row.leaseLeft > 0) return lookUp({ ...leaseOf("lookAgain", row), isFirst: false });
  const needsProof = row.nextOccurrence === null;
  return lookUp({ do: row.answer === null ? "take" : "refuse", needsProof });
}

function forRetry(
  row: RowFacts | undefined,
  effectClass: EffectClass,
  { isConfirmed, nobodyKnows }: PersonCause & { by: "retry" },
): PersonAction {
  const cannotAsk = effectClass === "once" || nobodyKnows;
  if (row?.state !== "sending" || !isConfirmed || !cannotAsk) return "keep";
  if (row.leaseLeft > 0) return "leaseRuns";
  // A provider that has answered the token with 200 only repeats its answer.
  return effectClass === "keyed" ? "sendAgain" : "replace";
}

/** Whether an empty look-up can prove that an operation of the class had no effect. */
const provesByLookUp = {
  repeatable: false,
  keyed: true,
  lookup: true,
  once: false,
} as const satisfies Record<EffectClass, boolean>;

function lookUp(ifAbsent: IfAbsent): CallAction {
  return { do: "lookUp", ifAbsent };
}

function leaseOf<D extends string>(action: D, { leaseLeft }: RowFacts): { do: D; ms: number } {
  return { do: action, ms: Math.ceil(leaseLeft) };
}

/** Taking the row writes this into it: whether an earlier attempt may have reached the provider. */
export function isUncertainOnceTaken({ state, uncertain }: Known): boolean {
  return uncertain || state === "sending";
}

/** How a call ended that did nothing, or that may be repeated (`noAnswer`). `denied`: the account is refused, so the token is renewed. */
export type CleanEnd = "refused" | "notSent" | "denied" | "noAnswer";

/**
 * Says what a clean end makes of the row. After an uncertain attempt it settles nothing, unless it may be repeated: the row stays `sending`
 * until one more look-up finds nothing. Where a person decided to send that attempt again (`before` is `notSent`), the decision still holds,
 * and the token stays, because the uncertain attempt went under it.
 */
export function afterCleanEnd(
  end: CleanEnd,
  take: { uncertain: boolean; before?: State; isRepeatable?: boolean },
): { state: State; renewsToken: boolean; uncertain: boolean } {
  const isOpen = take.uncertain && !take.isRepeatable;
  if (end === "refused")
    return { state: isOpen ? "sending" : "refused", renewsToken: false, uncertain: isOpen };
  const isDecided = isOpen && take.before === "notSent";
  return {
    state: isOpen && !isDecided ? "sending" : "notSent",
    renewsToken: end === "denied" && !isDecided,
    uncertain: take.uncertain || end === "noAnswer",
  };
}
