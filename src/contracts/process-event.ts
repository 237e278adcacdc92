// What webhooks and the change feed tell of a process (docs/webhooks.md): ids and words of ours; no personal data, and no secret.
import type { ProcessName } from "./registry.js";
import type { AttentionKind, ProcessFailure } from "./shared/failures.js";

export const processEventTypes = ["process.ended", "process.needsDecision"] as const;
export type ProcessEventType = (typeof processEventTypes)[number];

interface About {
  process: ProcessName;
  /** The business id that the caller chose. */
  id: string;
  /** Temporal's id of the run: a process that is started again, or reset, has another one. */
  runId: string;
}

/** How a process ended: by a result with its outcome, or by a failure. */
export interface EndedData extends About {
  /** Absent where visibility shows none. */
  outcome?: string;
  /** `Terminated`, `Stopped`: Temporal ended it. `Error`: the process failed by none of its own types. */
  failure?: ProcessFailure | "Terminated" | "Stopped" | "Error";
}

export interface NeedsDecisionData extends About {
  attention: {
    /** Absent where the memo of the process cannot be read. */
    id?: string;
    kind: AttentionKind;
  };
}

interface Told<T extends ProcessEventType, D> {
  /** The same in each delivery, and in the change feed. */
  id: string;
  type: T;
  /** When it happened, RFC 3339 in UTC. */
  timestamp: string;
  data: D;
}

export type ProcessEvent =
  | Told<"process.ended", EndedData>
  | Told<"process.needsDecision", NeedsDecisionData>;
