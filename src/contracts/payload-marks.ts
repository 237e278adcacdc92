// What the worker's codec notes on a payload that no holder of the deployment's keys has written, for the guards of workflows
// and activities that refuse it (decision 22). No zod: workflows import this file.

/** `codec.plaintext`: what a worker does with a payload that is not encrypted. */
export type PlaintextPolicy = "refuse" | "accept";

/** `plaintext`: not encrypted; `unreadable`: no key of the ring opens it. */
export type PayloadProblem = "plaintext" | "unreadable";

/** Metadata of a decoded payload, for the worker alone: whatever a client writes there is replaced. */
export const policyMark = "trustflow-policy";
export const problemMark = "trustflow-problem";

/** Why a start, an update or a query was refused; it goes behind the name of the field. */
export const notEncrypted = "must be encrypted with a key of this deployment";

/** What takes the place of such a payload in an activity's arguments. */
export interface RefusedPayload {
  trustflowRefused: PayloadProblem;
  reason: string;
}

export function isRefusedPayload(value: unknown): value is RefusedPayload {
  return typeof value === "object" && value !== null && "trustflowRefused" in value;
}
