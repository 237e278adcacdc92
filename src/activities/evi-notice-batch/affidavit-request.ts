// Answers the update `requestAffidavit`: requests an affidavit on demand of one notice of the batch (P2 §4.2).
import type { BatchItem } from "../../batch/items/items.js";
import type { BatchAffidavitRequest } from "../../contracts/send-notice-batch/contract.js";
import type { BatchAffidavitAnswer } from "../../contracts/send-notice-batch/messages.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { requestOnce } from "../evi/affidavit-request.js";
import { affidavitRefusals } from "../evi-notice/index.js";
import type { UpdateCall } from "../runtime/activity.js";
import type { BatchContext } from "./context.js";

/**
 * Only of a notice that the batch is known to have: another one belongs to another process. What a callback says of its state is not
 * enough to refuse. A request that was made before has its answer, whatever became of the notice since.
 */
export async function requestBatchAffidavit(
  context: BatchContext,
  given: UpdateCall & { account: string; asked: BatchAffidavitRequest },
): Promise<BatchAffidavitAnswer> {
  const { notice, ...flags } = given.asked;
  const item = await context.deps.items.shown(context.process, notice);
  if (!item) return { answer: "notFound" };
  if (isShownIneligible(item) && !(await isRequested(context, given)))
    return { answer: "notEligible" };
  const { evidenceId: id } = item;
  const requested = {
    operation: "requestAffidavit",
    input: { notice: id, ...flags },
    send: (signal: AbortSignal) =>
      eviNotice.requestAffidavit(context.account, { id, ...flags }, signal),
  } as const;
  return requestOnce(context, given, requested, affidavitRefusals);
}

function isShownIneligible({ state, source }: BatchItem): boolean {
  return source === "query" && (state === "Draft" || state === "Closed");
}

async function isRequested(context: BatchContext, { effect }: UpdateCall): Promise<boolean> {
  const rows = await context.rowsOf(effect.step);
  return rows.some(({ occurrence }) => occurrence === effect.occurrence);
}
