// P2 §3.3. No zod: the workflow imports this file.

/** In the order of P2 §3.3. The provider reports them by a query alone: a batch has no callback (P2 §6.1). */
export const batchStates = [
  "Draft",
  "Submitted",
  "Scheduled",
  "Processing",
  "Processed",
  "Invalid",
  "Failed",
] as const;

/** Before them the batch can be deleted, and nothing goes out (P2 §3.4, assumed). */
export const unstartedBatchStates: ReadonlySet<string> = new Set(["Draft", "Scheduled"]);

/** The provider gives the batch up: an operator decides what follows, and the process ends with that outcome. */
const brokenBatchStates = { Invalid: "invalid", Failed: "failed" } as const;

export function outcomeOfBroken(state: string | undefined): "invalid" | "failed" | undefined {
  return brokenBatchStates[state as keyof typeof brokenBatchStates];
}
