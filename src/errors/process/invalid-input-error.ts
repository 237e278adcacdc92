import { problemsInWords } from "../../contracts/shared/failures.js";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import { TrustflowError } from "../trustflow-error.js";

/**
 * The input breaks the contract, or another argument is not what the call takes; nothing was started or stored for it. Correct `fields`,
 * each a `path` and its `problem`, and call again.
 */
export class InvalidInputError extends TrustflowError {
  static override readonly errorName = "InvalidInputError";
  override readonly code = "invalidInput";
  override readonly details: { fields: FieldProblem[] };

  constructor(fields: FieldProblem[]) {
    super(`Invalid input: ${problemsInWords(fields)}`);
    this.details = { fields };
  }

  get fields(): FieldProblem[] {
    return this.details.fields;
  }
}
