// How many recipients may fail before a person decides: asked once, before the start or after it.
import { CancellationScope } from "@temporalio/workflow";
import type { BatchPlan } from "../../activities/evi-notice-batch/context.js";
import type { Decided, OpenAttention } from "../runtime/attention.js";
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
    const attention = this.#ask(0);
    const stopping = lifecycle.stopping?.then(({ stop }) => Promise.reject(stop));
    try {
      const asked = attention.decided;
      this.#obey(await (stopping ? Promise.race([asked, stopping]) : asked));
    } finally {
      this.#flow.attentions.close(attention);
    }
    if (lifecycle.stopped) throw lifecycle.stopped;
  }

  /** After the start: asks beside the main path, which goes on meanwhile. */
  note(failed: number): void {
    if (failed <= this.left) return;
    const attention = this.#ask(failed);
    this.#flow.lifecycle.background(async () => {
      try {
        const ended = CancellationScope.current().cancelRequested;
        this.#obey(await Promise.race([attention.decided, ended]));
      } finally {
        this.#flow.attentions.close(attention);
      }
    });
  }

  #ask(failed: number): OpenAttention {
    this.#isAsked = true;
    const { list, check, allowedFailures } = this.#plan;
    const all = list.recipients + check.invalidRows;
    const reason = `${check.invalidRows} rows were left out of the list and ${failed} notices failed, of ${all} recipients; the failure budget is ${allowedFailures}`;
    return this.#flow.attentions.open({ step, kind: "failureBudget", reason });
  }

  #obey(decided: Decided): void {
    const { lifecycle } = this.#flow;
    if (decided.decision === "abandon") lifecycle.stop(lifecycle.abandoned(step.name, decided));
  }
}
