import { TrustflowError } from "../trustflow-error.js";

/** The client was closed before the call. Nothing was done. Make the call with a client that is open. */
export class ClientClosedError extends TrustflowError {
  static override readonly errorName = "ClientClosedError";
  override readonly code = "clientClosed";

  constructor() {
    super("The client is closed");
  }
}
