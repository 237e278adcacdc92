import { TrustflowError } from "../trustflow-error.js";

/** The configuration is invalid or incomplete. Nothing was done. Correct the keys that the message names; it never shows a value. */
export class ConfigurationError extends TrustflowError {
  static override readonly errorName = "ConfigurationError";
  override readonly code = "configurationInvalid";
  override readonly details: { problems: string[] };

  constructor(problems: string[]) {
    super(`Configuration: ${problems.join("; ")}`);
    this.details = { problems };
  }

  get problems(): string[] {
    return this.details.problems;
  }
}
