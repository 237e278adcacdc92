import { TrustflowError } from "../trustflow-error.js";

/** Temporal refuses the credentials, or they do not permit the call. Check `TEMPORAL_API_KEY` or the client certificate, and their rights. */
export class AccessDeniedError extends TrustflowError {
  static override readonly errorName = "AccessDeniedError";
  override readonly code = "accessDenied";
  override readonly details: { reason: string };

  constructor(reason: string) {
    super(`Temporal denies access: ${reason}`);
    this.details = { reason };
  }
}
