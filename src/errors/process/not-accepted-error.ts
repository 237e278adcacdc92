import type { FailureDetails, FieldProblem } from "../../contracts/shared/failures.js";
import { TrustflowError } from "../trustflow-error.js";

/**
 * The provider refused the request, and no effect exists. Correct the fields and start again with the same id. `fields` and the message
 * have the provider's words, which may quote the input; `details` has only the paths.
 */
export class NotAcceptedError extends TrustflowError {
  static override readonly errorName = "NotAcceptedError";
  override readonly code = "notAccepted";
  override readonly details: { provider: string; providerCode?: string; paths: string[] };
  readonly fields: FieldProblem[];

  constructor({ provider, code, fields }: FailureDetails["NotAccepted"]) {
    const problems = fields.map(({ path, problem }) => [path, problem].filter(Boolean).join(" "));
    const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
    super(`${provider} did not accept it${code === undefined ? "" : ` (${code})`}${why}`);
    this.details = {
      provider,
      ...(code !== undefined && { providerCode: code }),
      paths: fields.map(({ path }) => path),
    };
    this.fields = fields;
  }
}
