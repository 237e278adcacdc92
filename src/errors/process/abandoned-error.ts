import type { FailureDetails } from "../../contracts/shared/failures.js";
import { TrustflowError } from "../trustflow-error.js";

/**
 * An operator abandoned the process; `effect` says whether something exists at the provider. Ask the operator before you start it again.
 * `decision` has who decided and why, which may be personal data.
 */
export class AbandonedError extends TrustflowError {
  static override readonly errorName = "AbandonedError";
  override readonly code = "abandoned";
  override readonly details: { attention: string; effect: "none" | "unknown" | "exists" };
  readonly decision: FailureDetails["Abandoned"];

  constructor(decision: FailureDetails["Abandoned"]) {
    const { attention, effect, by } = decision;
    super(`Abandoned by ${by} (effect: ${effect})`);
    this.details = { attention, effect };
    this.decision = decision;
  }
}
