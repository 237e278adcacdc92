import { TrustflowError } from "../trustflow-error.js";

/** Temporal has no such namespace. Check `TEMPORAL_NAMESPACE`; `trustflow migrate --create-namespace` creates it. */
export class NamespaceMissingError extends TrustflowError {
  static override readonly errorName = "NamespaceMissingError";
  override readonly code = "namespaceMissing";
  override readonly details: { namespace: string };

  constructor(namespace: string) {
    super(`Temporal has no namespace "${namespace}"`);
    this.details = { namespace };
  }
}
