// Marks that the worker's codec sets on a payload which was not written with a key of the deployment; the guards of workflows
// and activities refuse it (decision 22). No zod: workflows import this file.

/**
 * `plaintext`: not encrypted; `unreadable`: the ring lacks its key, which may be added again; `forged`: the named key does
 * not open it; `untagged`: no tag of a write key, or the tag of another process.
 */
export type PayloadProblem = "plaintext" | "unreadable" | "forged" | "untagged";

/** Its value can never be read, whatever the worker refuses. */
export function isUndecryptable(problem: PayloadProblem): boolean {
  return problem === "unreadable" || problem === "forged";
}

/** Metadata of a decoded payload, only for the worker; a value from a client is replaced. */
export const problemMark = "trustflow-problem";
/** Its value names what the worker refuses, separated by commas. */
export const policyMark = "trustflow-refused";

/** Why a start, an update or a query was refused; it follows the name of the field. */
export const notEncrypted = "must be encrypted with a key of this deployment";
export const notTagged = "must be tagged with a key of keys.codecWrite, for this process";

/** Replaces such a payload in the arguments of an activity. */
export interface RefusedPayload {
  trustflowRefused: PayloadProblem;
  reason: string;
}

export function isRefusedPayload(value: unknown): value is RefusedPayload {
  return typeof value === "object" && value !== null && "trustflowRefused" in value;
}
