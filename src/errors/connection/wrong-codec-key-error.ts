import { TrustflowError } from "../trustflow-error.js";

/**
 * The client opens nothing that the workers of the namespace have written, so the workers could not open what it writes: a process would be
 * started and never go on. Nothing was started. Give `keys.codec` the key ring of the workers.
 */
export class WrongCodecKeyError extends TrustflowError {
  static override readonly errorName = "WrongCodecKeyError";
  override readonly code = "wrongCodecKey";
  override readonly details: { namespace: string; keyIds: string[] };

  /** `keyIds`: what the workers call their keys. */
  constructor(namespace: string, keyIds: string[]) {
    super(
      `keys.codec is not the ring of the workers in the namespace "${namespace}": it does not open what they encrypted with ${keyIds.join(", ")}`,
    );
    this.details = { namespace, keyIds };
  }
}
