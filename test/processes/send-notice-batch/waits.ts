// The waits of a batch: for its provider, for its notices, and for a date.
import type { SendNoticeBatchInput } from "../../../src/client.js";
import { DEADLINE_SECONDS, denied } from "../waits.js";
import type { Waits } from "../waits.js";
import { batchInput, fastSettings } from "./inputs.js";

const batch =
  (words: string, more: Partial<SendNoticeBatchInput> = {}) =>
  (id: string) =>
    batchInput(id, [words], more);
const deadlineSeconds = DEADLINE_SECONDS;

export const batchWaits: Waits = {
  waits: [
    {
      name: "batch-deadline",
      kind: "alone",
      input: batch("open", { settings: { ...fastSettings, deadlineSeconds } }),
      ends: "openAtDeadline",
    },
    { name: "batch-denied", kind: "held", input: batch("read", denied), ends: "closed" },
  ],
};
