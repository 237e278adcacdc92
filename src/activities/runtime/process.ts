// Activities of every process: check and store an operator's decision, and withdraw a step before it is sent.
import { LeaseRunning } from "../../journal/errors.js";
import type { Decided, Withdrawal } from "../../journal/decisions.js";
import type { Journal } from "../../journal/journal.js";
import { DecisionRefused } from "../../journal/signed-decisions.js";
import type { GivenDecision, Proof, SignedDecisions } from "../../journal/signed-decisions.js";
import type { AttentionKind, FieldProblem } from "../../contracts/shared/failures.js";
import type { ResolveAnswer, Resolution } from "../../contracts/shared/messages.js";
import { execution } from "./failure.js";

export type WrittenDecision = ResolveAnswer & Partial<Decided>;

/** An operator's decision as the journal stores it; by then it is proven who decided. */
export type ProvenResolution = Omit<Resolution, "signature"> & {
  principal?: string | undefined;
  /** The operator who proposed the same decision, if two are needed. */
  proposedBy?: string | undefined;
};

/** An accepted decision names itself, so that no other answer of the process passes for it. */
export type CheckedDecision =
  | (Proof & { checked: Pick<GivenDecision, "update" | "updateId" | "firstRunId"> })
  | { refused: FieldProblem };

export function createProcessActivities(journal: Journal, signedDecisions: SignedDecisions) {
  return {
    /** Proves who decides, before anything is done. The process names the update and its argument. */
    async checkDecision(
      given: Omit<GivenDecision, "namespace" | "workflowId">,
    ): Promise<CheckedDecision> {
      try {
        const proof = await signedDecisions.prove({ ...execution(), ...given });
        const { update, updateId, firstRunId } = given;
        return { ...proof, checked: { update, updateId, firstRunId } };
      } catch (error) {
        if (!(error instanceof DecisionRefused)) throw error;
        return { refused: { path: error.path, problem: error.problem } };
      }
    },

    /**
     * Returns the occurrence with which the step continues, and what is known about its effect; `notYet` while an attempt may
     * still run.
     */
    async decide(given: {
      step: string;
      occurrence: string;
      resolution: ProvenResolution;
      at: string;
      kind: AttentionKind;
      reason: string;
    }): Promise<WrittenDecision> {
      const { step, occurrence, resolution, at, kind, reason } = given;
      const key = { ...execution(), step, occurrence };
      const decision = { ...resolution, at, reason, nobodyKnows: kind === "unknownOutcome" };
      try {
        return { answer: "resolved", ...(await journal.decide(key, decision)) };
      } catch (error) {
        if (!(error instanceof LeaseRunning)) throw error;
        return { answer: "notYet", until: error.until.toISOString() };
      }
    },

    /** Whether the worker's clock has passed `until`; a workflow must not use its own clock for it (decision 15). */
    async isPast({ until }: { until: string }): Promise<boolean> {
      return Date.parse(until) <= Date.now();
    },

    /** After `withdrawn`, nothing can be sent for the step any more. `of`: the process whose step it is; default: its own. */
    async withdraw({ step, of }: { step: string; of?: string }): Promise<Withdrawal> {
      const { namespace, workflowId } = execution();
      return journal.withdraw({ namespace, workflowId: of ?? workflowId, step });
    },
  };
}

export type ProcessActivities = ReturnType<typeof createProcessActivities>;
