// The handle of `verifyIdentity`.
import { rejectCall } from "../contracts/verify-identity/messages.js";
import type { RejectAnswer } from "../contracts/verify-identity/messages.js";
import type { VerifyIdentityResult } from "../contracts/verify-identity/contract.js";
import { ProcessHandle } from "./handle.js";
import type { Stated } from "./handle.js";

export class IdentityHandle extends ProcessHandle<VerifyIdentityResult> {
  /** Rejects the call (P1 §4.2). `providerFields` is the body of the request. */
  rejectCall(
    providerFields?: Record<string, unknown>,
    updateId?: string,
    stated: Stated = {},
  ): Promise<RejectAnswer> {
    return this.update(
      rejectCall,
      [{ ...stated, ...(providerFields && { providerFields }) }],
      updateId,
    );
  }
}
