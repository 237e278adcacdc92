import { TrustflowError } from "../trustflow-error.js";

/**
 * The server answers at the address, but no TLS connection can be made: its certificate is not trusted or is for another name, it speaks
 * no TLS, or it refuses the client's certificate. Check `TEMPORAL_TLS` and the certificates of temporal.toml.
 */
export class TlsRefusedError extends TrustflowError {
  static override readonly errorName = "TlsRefusedError";
  override readonly code = "tlsRefused";
  override readonly details: { address: string; reason: string };

  constructor(address: string, reason: string) {
    super(`TLS with Temporal at ${address} failed: ${reason}`);
    this.details = { address, reason };
  }
}
