// An update by which a person decides: who it is, is proven by an activity before anything is done (docs/decisions/0024).
import {
  ActivityFailure,
  currentUpdateInfo,
  patched,
  proxyActivities,
  workflowInfo,
} from "@temporalio/workflow";
import type { ProcessActivities } from "../../activities/runtime/process.js";
import type { Decider } from "../../contracts/shared/messages.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";
import { answerOptions } from "./activity-options.js";
import { invalidInput, membersOf } from "./invalid-input.js";

/** Who decides: as stated, and as proven. */
export interface Proven extends Pick<TimelineEntry, "by" | "note" | "principal"> {
  /** Two operators have to decide alike; `proposedBy`: another one has. */
  secondPerson?: { proposedBy?: string };
}

const summary = "Check who decides";
const seconds = "4 seconds";
const { checkDecision } = proxyActivities<ProcessActivities>({
  ...answerOptions,
  startToCloseTimeout: seconds,
  scheduleToCloseTimeout: seconds,
  summary,
});
/** For a check whose answer no caller waits for: retried until it succeeds. */
const { checkDecision: checkUntilKnown } = proxyActivities<ProcessActivities>({
  startToCloseTimeout: seconds,
  retry: { maximumInterval: "1 minute" },
  summary,
});

/** False in the part of a history that an earlier release has made: there nothing is checked. */
export const isChecked = () => patched("signed-decisions");

/** Undefined when it cannot be checked now; throws the error that refuses the update. */
export async function verifyDecider(given: Decider): Promise<Proven | undefined> {
  const { name: update = "", id: updateId = "" } = currentUpdateInfo() ?? {};
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  try {
    const checked = await checkDecision({ update, updateId, firstRunId, argument: given });
    if (!("refused" in checked)) return { ...unverifiedDecider(given), ...checked };
    throw invalidInput(checked.refused.path, checked.refused.problem);
  } catch (error) {
    if (error instanceof ActivityFailure) return undefined;
    throw error;
  }
}

export function unverifiedDecider({ by, note }: Decider): Proven {
  return { ...(by === undefined ? {} : { by }), ...(note === undefined ? {} : { note }) };
}

/** Whether an update is taken without a signature: what Temporal itself was asked for has none. */
export async function acceptsUnsigned(update: string): Promise<boolean> {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const checked = await checkUntilKnown({ update, updateId: "", firstRunId, argument: {} });
  return !("refused" in checked);
}

/** The entry of the timeline; without a name and a proof it is what the process has done. */
export function decidedBy(
  { by, principal, note }: Proven,
  event: string,
): Omit<TimelineEntry, "at"> {
  const isNamed = by !== undefined || principal !== undefined;
  return {
    source: isNamed ? "person" : "process",
    event,
    ...(by === undefined ? {} : { by }),
    ...(principal === undefined ? {} : { principal }),
    ...(note === undefined ? {} : { note }),
  };
}

/** Where an argument has nothing else. */
export function refuseUnlessDeciderAlone(given: unknown): void {
  const known = new Set(["by", "note", "signature"]);
  for (const path of Object.keys(membersOf(given)))
    if (!known.has(path)) throw invalidInput(path, "is not known");
}

/** Refuses what is stated of the person, and a signature, in another form. */
export function refuseUnlessDecider(given: unknown): void {
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
