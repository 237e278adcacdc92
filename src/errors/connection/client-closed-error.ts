import { TrustflowError } from "../trustflow-error.js";

/** The client was closed before the call. Nothing was done. Make the call with a client that is open. */
export class ClientClosedError extends TrustflowError {
  override readonly code = "clientClosed";

  override get name(): string {
    return "ClientClosedError";
  }

  constructor() {
    super("The client is closed");
  }
}
