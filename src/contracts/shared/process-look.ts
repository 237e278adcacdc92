// One process sees this much of another one: its newest run, and what that run answers. No zod: workflows import this file.
import type { FieldProblem } from "./failures.js";
import type { ProcessStatus } from "./status.js";

/** How an ended run ended without a result. */
export interface LookedAtFailure {
  /** A process that failed has a type of failures.ts, else `Terminated` or another word of ours. */
  type: string;
  message: string;
  fields: FieldProblem[];
  /** Only `NotAccepted` has it. */
  provider?: string;
  code?: string;
  /** Only `Abandoned` has it. */
  effect?: "none" | "unknown" | "exists";
}

/** The newest run, whichever that is: a reset goes on in a new one. */
export type LookedAt =
  | { run: "missing" }
  | { run: "open"; startedAt: string; status: ProcessStatus }
  | { run: "completed"; startedAt: string; result: Record<string, unknown> }
  | { run: "failed"; startedAt: string; failure: LookedAtFailure };
