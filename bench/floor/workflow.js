// The floor: what a bare hand-written Temporal application does for the same job. Submit, callbacks as signals, a deadline,
// confirm; no journal, no encryption, no status, no search attributes.
import {
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
} from "@temporalio/workflow";

/** @type {import("@temporalio/workflow").SignalDefinition<[{ Kind: string }]>} */
export const callback = defineSignal("callback");

/** @type {import("./activities.js").FloorActivities} */
const { submit, confirm } = proxyActivities({ startToCloseTimeout: "2 minutes" });
/**
 * The server cannot hand them over with the workflow task, as if they had a queue of their own. On a busy machine the answer to a poll can
 * come after the poll's time; such a task is lost until its own time is over.
 * @type {import("./activities.js").FloorActivities}
 */
const queued = proxyActivities({ startToCloseTimeout: "10 seconds", allowEagerDispatch: false });

/** @param {import("./activities.js").FloorInput} input */
export async function floor(input) {
  /** @type {string[]} */
  const kinds = [];
  setHandler(callback, ({ Kind }) => void kinds.push(Kind));
  const uniqueId = await submit(input);
  const closed = await condition(() => kinds.includes("Closed"), input.deadlineSeconds * 1_000);
  const { outcome } = await confirm(uniqueId);
  return { outcome: closed ? outcome : "openAtDeadline" };
}

/**
 * The floor with what an operator of Trustflow sees: search attributes, and a status of usual length in the memo, also after each callback
 * before the last.
 * @param {import("./activities.js").FloorInput} input
 */
export async function floorWithStatus(input) {
  /** @type {string[]} */
  const kinds = [];
  const isClosed = () => kinds.includes("Closed");
  const showStatus = () => upsertMemo({ status: { kinds, more: "x".repeat(700) } });
  setHandler(callback, ({ Kind }) => void kinds.push(Kind));
  const uniqueId = await queued.submit(input);
  showStatus();
  upsertSearchAttributes({ TrustflowPhase: ["atProvider"], TrustflowReferences: [uniqueId] });
  let isLate = false;
  void sleep(input.deadlineSeconds * 1_000).then(() => (isLate = true));
  while (!isClosed() && !isLate) {
    const seen = kinds.length;
    await condition(() => isLate || kinds.length > seen);
    if (!isClosed()) showStatus();
  }
  const { outcome } = await queued.confirm(uniqueId);
  upsertSearchAttributes({ TrustflowPhase: ["ended"], TrustflowOutcome: [outcome] });
  return { outcome };
}
