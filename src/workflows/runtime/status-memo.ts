// The status in the memo of a process, which is read from Temporal alone: watching asks no worker (docs/decisions/0035). It is
// written once at the end of a workflow task that has changed it.
import { defaultPayloadConverter } from "@temporalio/workflow";
import type { ConcludeActivationInput, WorkflowInterceptors } from "@temporalio/workflow";
import { statusMemo } from "../../contracts/shared/names.js";
import type { ProcessStatus } from "../../contracts/shared/status.js";

type Commands = ConcludeActivationInput["commands"];

interface MemoSource {
  takeMemo(completes: boolean): ProcessStatus | undefined;
}

/** All runs share this module, but each has a global object of its own. */
const ofRun = globalThis as { trustflowMemo?: MemoSource };

export function beginMemo(from: MemoSource): void {
  ofRun.trustflowMemo = from;
}

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation: (input, next) => ({ commands: withMemo(next(input).commands) }),
    },
  ],
});

/** The commands of an activation, with the memo that it makes necessary. An answer to a query stands alone. */
function withMemo(commands: Commands): Commands {
  if (commands.some(({ respondToQuery }) => respondToQuery)) return commands;
  const completes = commands.some(({ completeWorkflowExecution: end }) => end);
  const status = ofRun.trustflowMemo?.takeMemo(completes);
  // At the end the timers end with the run: to cancel one would be an event more.
  const others = completes ? commands.filter(({ cancelTimer }) => !cancelTimer) : commands;
  if (!status) return others;
  const fields = { [statusMemo]: defaultPayloadConverter.toPayload(status) };
  return [{ modifyWorkflowProperties: { upsertedMemo: { fields } } }, ...others];
}
