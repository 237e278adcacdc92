// How many recipients may fail before a person decides: asked once, before the start or after it.
import type { BatchPlan } from "../../activities/evi-notice-batch/context.js";
import type { Decided } from "../runtime/attention.js";
import type { AnyFlow } from "../runtime/flow.js";

const step = { name: "failureBudget", journaled: false };

export class FailureBudget {
  readonly #flow: AnyFlow;
  readonly #plan: Pick<BatchPlan, "list" | "check" | "allowedFailures">;
  #isAsked = false;

  constructor(flow: AnyFlow, plan: Pick<BatchPlan, "list" | "check" | "allowedFailures">) {
    this.#flow = flow;
    this.#plan = plan;
  }

  /** How many notices may still fail. */
  get left(): number {
    const { list, check, allowedFailures } = this.#plan;
    return this.#isAsked ? list.recipients : Math.max(0, allowedFailures - check.invalidRows);
  }

  /** Before the start: waits for the decision where the check of the list has left out too many. */
  async pause(): Promise<void> {
    const { check, allowedFailures } = this.#plan;
    if (check.invalidRows <= allowedFailures) return;
    const { lifecycle } = this.#flow;
    const stopping = lifecycle.stopping?.then(({ stop }) => Promise.reject(stop));
    await this.#ask(0, stopping);
    if (lifecycle.stopped) throw lifecycle.stopped;
  }

  /** After the start: asks beside the main path, which goes on meanwhile. */
  note(failed: number): void {
    if (failed > this.left) this.#flow.lifecycle.background(() => this.#ask(failed));
  }

  #ask(failed: number, ended?: Promise<never>): Promise<void> {
    this.#isAsked = true;
    const { list, check, allowedFailures } = this.#plan;
    const all = list.recipients + check.invalidRows;
    const reason = `${check.invalidRows} rows were left out of the list and ${failed} notices failed, of ${all} recipients; the failure budget is ${allowedFailures}`;
    const { attentions, lifecycle } = this.#flow;
    const obey = (decided: Decided) => {
      if (decided.decision === "abandon") lifecycle.stop(lifecycle.abandoned(step.name, decided));
    };
    return attentions.ask({ step, kind: "failureBudget", reason }, obey, ended);
  }
}
