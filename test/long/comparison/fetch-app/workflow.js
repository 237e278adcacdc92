// Temporal and fetch, as one writes them by hand on the first day: an activity for each call, a signal for each callback.
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

/** @type {import("@temporalio/workflow").SignalDefinition<[{ Kind: string }]>} */
export const callback = defineSignal("callback");

/** @type {import("./program.js").Activities} */
const { post, query } = proxyActivities({ startToCloseTimeout: "6 seconds" });

/** @param {object} message */
export async function sendMessage(message) {
  return post("/api/services/send", message);
}

/** @param {object} letter */
export async function sendLetter(letter) {
  let isClosed = false;
  setHandler(callback, ({ Kind }) => void (isClosed ||= Kind === "Closed"));
  const { uniqueId } = await post("/v1/EviPost/Submit", letter);
  await condition(() => isClosed);
  return query(uniqueId);
}
