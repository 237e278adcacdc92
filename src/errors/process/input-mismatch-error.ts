import { TrustflowError } from "../trustflow-error.js";

/**
 * The id is already used with another input. Use another id, or send the first input again. `members` are the paths of the members that
 * differ, without their values; absent where the worker refused the input, because it compares only digests.
 */
export class InputMismatchError extends TrustflowError {
  override readonly code = "inputMismatch";
  override readonly details: { id: string; members?: string[] };

  constructor(id: string, members?: string[]) {
    const differ = members
      ? `: ${members.join(", ")} ${members.length > 1 ? "differ" : "differs"}`
      : "";
    super(`${id} was started with another input${differ}`);
    this.details = { id, ...(members && { members }) };
  }
}
