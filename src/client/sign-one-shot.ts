// The handle of `signOneShot`.
import { acceptContract, decideVideo, updateVideo } from "../contracts/sign-one-shot/messages.js";
import type {
  ContractAnswer,
  VideoAnswer,
  VideoUpdateAnswer,
} from "../contracts/sign-one-shot/messages.js";
import type { SignOneShotResult } from "../contracts/sign-one-shot/contract.js";
import type { Stated } from "./handle.js";
import { OtpHandle } from "./one-time-password.js";

export class OneShotHandle extends OtpHandle<SignOneShotResult> {
  /** Accepts or refuses the contract, if the input sets `requireContractAccepted`. */
  acceptContract(
    accepted: boolean,
    updateId?: string,
    stated: Stated = {},
  ): Promise<ContractAnswer> {
    return this.update(acceptContract, [{ ...stated, accepted }], updateId);
  }

  /** Approves or cancels the identity video (P1 §1.4). */
  decideVideo(
    decision: "approve" | "cancel",
    updateId?: string,
    stated: Stated = {},
  ): Promise<VideoAnswer> {
    return this.update(decideVideo, [{ ...stated, decision }], updateId);
  }

  /**
   * Changes the request of the identity video before it is decided (P1 §1.4). `providerFields` is the body of the request; which members
   * it takes is not shown, and one may decide on the video, so it is a decision itself.
   */
  updateVideo(
    providerFields: Record<string, unknown>,
    updateId?: string,
    stated: Stated = {},
  ): Promise<VideoUpdateAnswer> {
    return this.update(updateVideo, [{ ...stated, providerFields }], updateId);
  }
}
