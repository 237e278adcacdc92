// Updates by which a person decides. Before the update has an effect, an activity proves who the person is (docs/design.md §6).
import {
  ActivityFailure,
  currentUpdateInfo,
  isCancellation,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type { CheckedDecision } from "../../activities/runtime/process.js";
import type { Decider } from "../../contracts/shared/messages.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";
import { databaseProxy, ownProxy } from "./activity-options.js";
import { invalidInput, membersOf, refuseUnknownMembers } from "./activity-errors.js";

/** The person who decides: the stated name and the proven operator. */
export interface ProvenPerson extends Pick<TimelineEntry, "by" | "note" | "principal"> {
  /** A second operator has to make the same decision; `proposedBy`: another operator already has. */
  secondPerson?: { proposedBy?: string };
}

const summary = "Check the signature of the decision";
const PAUSE_MS = 60_000;
const { checkDecision } = databaseProxy(summary, 4, 4);
/** Options for a check that no caller waits for: it is retried until it succeeds. */
const { checkDecision: checkUntilKnown } = ownProxy({
  startToCloseTimeout: "4 seconds",
  retry: { maximumInterval: "1 minute" },
  summary,
});

/** Returns undefined if the check is not possible now; throws the error that refuses the update. */
export async function verifyDecider(given: Decider): Promise<ProvenPerson | undefined> {
  const { name: update = "", id: updateId = "" } = currentUpdateInfo() ?? {};
  const asked = askedAbout(update, updateId);
  try {
    const answer = await checkDecision({ ...asked, argument: given });
    const refused = refusalIn(answer);
    if (refused) throw invalidInput(refused.path, refused.problem);
    if (!accepts(answer, asked)) return undefined;
    const { checked: _, ...proof } = answer;
    const { by, note } = given;
    return { by, note, ...proof };
  } catch (error) {
    if (error instanceof ActivityFailure) return undefined;
    throw error;
  }
}

/** Whether unsigned decisions are accepted. A cancellation by Temporal itself has no signature. */
export async function acceptsUnsigned(update: string): Promise<boolean> {
  const asked = askedAbout(update, "");
  for (;;) {
    try {
      const answer = await checkUntilKnown({ ...asked, argument: {} });
      if (refusalIn(answer)) return false;
      if (accepts(answer, asked)) return true;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    }
    // A stranger completed the activity (decision 22), or a key is missing.
    await sleep(PAUSE_MS, { summary: `Pause before: ${summary}` });
  }
}

type Accepted = Exclude<CheckedDecision, { refused: unknown }>;

function askedAbout(update: string, updateId: string): Accepted["checked"] {
  return { update, updateId, firstRunId: workflowInfo().firstExecutionRunId };
}

/** A stranger may have put another encrypted payload of the process in the place of the answer. */
function accepts(answer: unknown, asked: Accepted["checked"]): answer is Accepted {
  const { update, updateId, firstRunId } = partsOf(partsOf(answer).checked);
  return update === asked.update && updateId === asked.updateId && firstRunId === asked.firstRunId;
}

function partsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function refusalIn(answer: unknown): { path: string; problem: string } | undefined {
  const { path, problem } = partsOf(partsOf(answer).refused);
  return typeof path === "string" && typeof problem === "string" ? { path, problem } : undefined;
}

/** The timeline entry; without a name and a proof its source is the process. */
export function decidedBy(
  { by, principal, note }: ProvenPerson,
  event: string,
): Omit<TimelineEntry, "at"> {
  const isNamed = by !== undefined || principal !== undefined;
  return { source: isNamed ? "person" : "process", event, by, principal, note };
}

/** `members`: what the decision has beside its decider. */
export function refuseUnlessDecider(given: unknown, members: readonly string[]): void {
  refuseUnknownMembers(given, ["by", "note", "signature", ...members]);
  const { by, note, signature } = membersOf(given);
  if (by !== undefined && (typeof by !== "string" || !by.trim()))
    throw invalidInput("by", "must be the name of the person who decides");
  if (note !== undefined && typeof note !== "string") throw invalidInput("note", "must be text");
  if (signature === undefined) return;
  if (typeof signature !== "object" || signature === null)
    throw invalidInput("signature", "must be an object");
  for (const name of ["operator", "at", "value"] as const)
    if (typeof (signature as Record<string, unknown>)[name] !== "string")
      throw invalidInput(`signature.${name}`, "is required, and must be text");
}
