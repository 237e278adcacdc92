// What a caller may say about a start beside id and input. The rest of Temporal's options is Trustflow's: ids, task queue, policies.
import type { WorkflowStartOptions } from "@temporalio/client";
import { InvalidInputError } from "../errors/index.js";
import type { Waiting } from "./waiting.js";

/**
 * Temporal's options of the same names. They count where the start creates the process; one that joins changes nothing. `memo` and
 * `staticDetails` are encrypted; the names in `memo` are not. `staticSummary` replaces title and id in the Web UI. Default of
 * each: that of Temporal, and title and id as the summary.
 */
export type StartOptions = Waiting &
  Pick<
    WorkflowStartOptions,
    "memo" | "priority" | "startDelay" | "staticSummary" | "staticDetails"
  >;

/** The names under which the workers keep what a client reads of a process. */
const OWN = /^trustflow/i;

export function refuseOwnNames({ memo = {} }: StartOptions): void {
  const fields = Object.keys(memo)
    .filter((name) => OWN.test(name))
    .map((name) => ({ path: `options.memo.${name}`, problem: "is a name of Trustflow's own" }));
  if (fields.length > 0) throw new InvalidInputError(fields);
}
