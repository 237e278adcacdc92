// What it means that a process failed, for docs/reference (docs/errors.md says what to do).
import type { ProcessFailure } from "./failures.js";

export const failureMeanings: Record<ProcessFailure, string> = {
  InvalidInput: "the input breaks a rule; nothing was sent",
  InputMismatch: "the id already stands for another input",
  NotAccepted: "the provider refused the first effect; nothing exists there",
  Abandoned:
    "an operator abandoned the process; `effect` says whether something exists at the provider",
};
