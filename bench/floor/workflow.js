// The floor: what a bare hand-written Temporal application does for the same job. Submit, callbacks as signals, a deadline,
// confirm; no journal, no encryption, no status, no search attributes.
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

/** @type {import("@temporalio/workflow").SignalDefinition<[{ Kind: string }]>} */
export const callback = defineSignal("callback");

/** @type {import("./activities.js").FloorActivities} */
const { submit, confirm } = proxyActivities({ startToCloseTimeout: "2 minutes" });

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
