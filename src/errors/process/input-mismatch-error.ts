import { TrustflowError } from "../trustflow-error.js";

const MOST_MEMBERS = 20;

/**
 * The id is already used with another input. Use another id, or send the first input again. `members` are the paths of the members that
 * differ, 20 at most and without their values; absent where the worker refused the input, because it compares only digests.
 */
export class InputMismatchError extends TrustflowError {
  static override readonly errorName = "InputMismatchError";
  override readonly code = "inputMismatch";
  override readonly details: { id: string; members?: string[] };

  constructor(id: string, members?: string[]) {
    const named = members?.slice(0, MOST_MEMBERS);
    const more = (members?.length ?? 0) > MOST_MEMBERS ? " and more" : "";
    const differ = named
      ? `: ${named.join(", ")}${more} ${named.length > 1 ? "differ" : "differs"}`
      : "";
    super(`${id} was started with another input${differ}`);
    this.details = { id, ...(named && { members: named }) };
  }
}
