import { TrustflowError } from "../trustflow-error.js";

/**
 * Temporal's answer is missing or not encrypted, and this client accepts only encrypted answers (`codec.plaintext`). Someone without a key
 * may have written it, so it does not show the state of the process. Check its history in the Web UI, and who can reach Temporal.
 */
export class UnprovenAnswerError extends TrustflowError {
  static override readonly errorName = "UnprovenAnswerError";
  override readonly code = "unprovenAnswer";
  override readonly details: { id: string };

  constructor(id: string) {
    super(
      `Temporal's answer about ${id} is missing or not encrypted, so the client rejects it (codec.plaintext): someone without a key may have written it`,
    );
    this.details = { id };
  }
}
