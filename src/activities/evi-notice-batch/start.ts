// The start of a batch, the last look before it, and its deletion instead (P2 §3.4, §4.3).
import { activityInfo } from "@temporalio/activity";
import { unstartedBatchStates } from "../../contracts/send-notice-batch/states.js";
import { EffectRefused } from "../../journal/errors.js";
import { ProviderError, withoutAnswer } from "../../providers/errors/provider-error.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { Batch, BatchStart } from "../../providers/evi-notice/client.js";
import { provider } from "../evi-notice/context.js";
import type { StepCall } from "../runtime/activity.js";
import { measured } from "../runtime/call-metrics.js";
import { CircuitOpenError } from "../runtime/circuit-breaker.js";
import { runEffect } from "../runtime/effect.js";
import type { AttemptMode, Refusal } from "../runtime/failure.js";
import type { BatchContext, OfBatch, SentList } from "./context.js";
import { addRecipients, recipientsOf } from "./set-up.js";

/**
 * Compares what the provider has with what was sent. A difference is a `protocol` problem: the batch is not started. A person's retry
 * sends a list again of which recipients are missing or doubled.
 */
export async function verifyBatch(
  context: BatchContext,
  given: OfBatch & { list: SentList; attachments: number; mode: AttemptMode },
): Promise<void> {
  const { batchId, list } = given;
  // An earlier run of the process has compared it, before it began to start it. A cancellation may have deleted it since.
  if ((await context.readStepHistory("start")).made > 0) return;
  const batch = await context.findBatch(batchId);
  if (!batch) throw context.notShown("getBatch", "does not show the batch");
  if (!isBodyThere(batch)) throw context.notShown("getBatch", "does not show the body yet");
  const attachments = await context.attachments(batchId);
  if (attachments.length !== given.attachments)
    throw context.problem(
      "listBatchAttachments",
      `has ${attachments.length} of ${given.attachments} attachments`,
    );
  let { count } = await recipientsOf(context, batchId, list);
  if (count !== list.recipients && given.mode === "probe") {
    // One for each retry. The ids of activities begin anew with each run.
    const { activityId, workflowExecution } = activityInfo();
    const occurrence = `again-${workflowExecution?.runId}-${activityId}`;
    await addRecipients(context, { ...given, effect: { step: "recipients", occurrence } });
    ({ count } = await recipientsOf(context, batchId, list));
  }
  if (count !== list.recipients)
    throw context.problem("queryRecipients", `has ${count} of ${list.recipients} recipients`);
}

/** A body is queued at first (P2 §4.3). Whether a batch shows it is assumed. */
function isBodyThere({ providerFields }: Batch): boolean {
  const template = providerFields?.["EviNotice"];
  const isShown = typeof template === "object" && template !== null && "Body" in template;
  return !isShown || Boolean(template.Body);
}

export interface Started {
  startedAt: string;
  /** Absent where it was past. */
  scheduledDate?: string;
}

export async function startBatch(
  context: BatchContext,
  { effect, batchId, scheduledDate }: StepCall & OfBatch & { scheduledDate?: string },
): Promise<Started> {
  const isAhead = () => scheduledDate !== undefined && Date.parse(scheduledDate) > Date.now();
  const started = (): Started => ({
    startedAt: new Date().toISOString(),
    ...(scheduledDate !== undefined && isAhead() && { scheduledDate }),
  });
  const answer = await runEffect<typeof provider, Started | object>(context, effect, {
    operation: "startBatch",
    input: { batchId, scheduledDate: scheduledDate ?? null },
    async send({ signal }) {
      const answer = started();
      await sendStart(context, { batchId, scheduledDate: answer.scheduledDate }, signal);
      return answer;
    },
    async lookUp() {
      const { state } = await context.ask("getBatch", eviNotice.getBatch, { batchId });
      return state === "Draft" ? undefined : started();
    },
  });
  // Without a date a person has decided that it happened.
  return "startedAt" in answer ? answer : started();
}

/**
 * The date goes first and alone: it may schedule the batch by itself, and `State` may start it at once (P2 §3.4). So `State` follows only
 * where the batch is still a draft.
 */
async function sendStart(
  context: BatchContext,
  { batchId, scheduledDate }: { batchId: string; scheduledDate: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { account } = context;
  const send = (start: BatchStart) =>
    eviNotice.startBatch(account, { batchId, ...start }, signal).catch((error: unknown) => {
      throw context.isNew() && error instanceof ProviderError && error.status === 400
        ? context.notShown("startBatch", "answered 400: the body may still be queued")
        : error;
    });
  if (scheduledDate !== undefined) {
    await send({ scheduledDate });
    if (account.batch.startsBy === "scheduledDate") return;
    // Not through the circuit: this answer is needed even while this call is its only probe.
    const reading = measured(provider, "getBatch", eviNotice.getBatch)(
      account,
      { batchId },
      signal,
    );
    if ((await reading.catch(asUnanswered)).state !== "Draft") return;
  }
  await send({ scheduledDate, state: "Submitted" });
}

/** The date was taken, so the batch may start: the look-up tells. */
function asUnanswered(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error;
  const { operation, problem, status, code } = error;
  const about = { provider, operation, problem, status, code };
  throw new ProviderError({ ...about, ...withoutAnswer("lookup") });
}

/**
 * How long before its date a scheduled batch is last deleted, beside the time of the call. What DELETE does to a batch that is being sent
 * is not shown (P2 §4.3), so none may arrive after the date: one that got no answer may still be under way, and clocks may differ.
 */
const LAST_DELETION_MS = 60_000;

/**
 * `deleted`: it is gone, and was never started; `tooLate`: it was started. What the provider answered to the start counts more than what it
 * shows, which may be older. `started`: as the process knows it.
 */
export async function deleteBatch(
  context: BatchContext,
  { effect, batchId, started }: StepCall & OfBatch & { started?: Started },
): Promise<{ answer: "deleted" | "tooLate" }> {
  const start = started ?? (await answeredStart(context));
  if (start && start.scheduledDate === undefined) return { answer: "tooLate" };
  const date = start?.scheduledDate;
  const lastMs = LAST_DELETION_MS + context.account.timeoutMs;
  try {
    await runEffect(context, effect, {
      operation: "deleteBatch",
      input: { batchId },
      async prepare() {
        if (await isStarted(context, batchId)) throw refusal(context, "it was started");
        if (date !== undefined && Date.parse(date) - Date.now() < lastMs)
          throw refusal(context, "it starts too soon");
      },
      send: ({ signal }) => eviNotice.deleteBatch(context.account, { batchId }, signal),
    });
  } catch (error) {
    return { answer: await answerToRefusal(context, batchId, error, start !== undefined) };
  }
  const left = await context.findBatch(batchId);
  if (!left) return { answer: "deleted" };
  if (unstartedBatchStates.has(left.state))
    throw context.notShown("getBatch", "shows a batch that was deleted");
  return { answer: "tooLate" };
}

/**
 * The specification does not show the answer of DELETE to a started batch (P2 §4.3). So after any answer the batch itself says what became
 * of it. An answered start counts more than a read: the read may be older, and a batch that it does not show need not be gone.
 */
async function answerToRefusal(
  context: BatchContext,
  batchId: string,
  error: unknown,
  wasStarted: boolean,
): Promise<"deleted" | "tooLate"> {
  const refusal = refusalIn(error);
  if (!refusal) throw error;
  const { status } = refusal;
  const left = await context.findBatch(batchId);
  if (left && !unstartedBatchStates.has(left.state)) return "tooLate";
  if (status !== undefined && !isAboutBatch(status)) throw error;
  if (wasStarted) return !left && (await wasDeleted(context)) ? "deleted" : "tooLate";
  // A person may have started or deleted it, and the provider not show that yet.
  if (left) throw context.notShown("deleteBatch", "does not delete a batch that is not started");
  if (status === undefined || context.isNew())
    throw context.notShown("getBatch", "does not show the batch");
  return "deleted";
}

/** Whether the provider has answered another deletion, under whatever occurrence, with success. */
async function wasDeleted({ deps, process: processKey }: BatchContext): Promise<boolean> {
  const rows = await deps.journal.rows(processKey);
  return rows.some(({ operation, state }) => operation === "deleteBatch" && state === "answered");
}

/** As if the provider had refused the call, which is not made. */
function refusal(context: BatchContext, problem: string): ProviderError {
  return context.problem("deleteBatch", problem, "invalidRequest");
}

/** Without a status it is our own. Undefined where the deletion has no answer. */
function refusalIn(error: unknown): Pick<Refusal, "status"> | undefined {
  if (error instanceof EffectRefused) return error.refusal;
  const isAnswer =
    error instanceof ProviderError &&
    error.operation === "deleteBatch" &&
    error.status !== undefined &&
    !(error instanceof CircuitOpenError);
  return isAnswer ? error : undefined;
}

/** Others are about the account or the number of requests, or say that the request was not processed. */
function isAboutBatch(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

/** This run of the process has started it, or an earlier one. */
async function answeredStart(context: BatchContext): Promise<Partial<Started> | undefined> {
  const { standing } = await context.readStepHistory("start");
  return standing?.isAnswered === true ? (standing.answer as Partial<Started>) : undefined;
}

async function isStarted(context: BatchContext, batchId: string): Promise<boolean> {
  const batch = await context.findBatch(batchId);
  return batch !== undefined && !unstartedBatchStates.has(batch.state);
}
