// What the worker's codec notes on a payload that no holder of the deployment's keys has written, for the guards of workflows
// and activities that refuse it (decision 22). No zod: workflows import this file.

/**
 * `plaintext`: not encrypted; `unreadable`: the ring lacks its key, which may be put back; `forged`: the key that it names does not
 * open it; `untagged`: no tag of a write key, or that of another process.
 */
export type PayloadProblem = "plaintext" | "unreadable" | "forged" | "untagged";

/** Nothing can show its value, whatever the worker refuses. */
export function isLocked(problem: PayloadProblem): boolean {
  return problem === "unreadable" || problem === "forged";
}

/** Metadata of a decoded payload, for the worker alone: whatever a client writes there is replaced. */
export const problemMark = "trustflow-problem";
/** What the worker refuses, separated by commas. */
export const policyMark = "trustflow-refused";

/** Why a start, an update or a query was refused; it goes behind the name of the field. */
export const notEncrypted = "must be encrypted with a key of this deployment";
export const notTagged = "must be tagged with a key of keys.codecWrite, for this process";

/** What takes the place of such a payload in an activity's arguments. */
export interface RefusedPayload {
  trustflowRefused: PayloadProblem;
  reason: string;
}

export function isRefusedPayload(value: unknown): value is RefusedPayload {
  return typeof value === "object" && value !== null && "trustflowRefused" in value;
}
