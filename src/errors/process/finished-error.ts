import { TrustflowError } from "../trustflow-error.js";

/** The process has ended and accepts no more updates. `outcome` says how, if it is known; a failed process has none. */
export class FinishedError extends TrustflowError {
  static override readonly errorName = "FinishedError";
  override readonly code = "finished";
  override readonly details: { id: string; outcome?: string };

  constructor(id: string, outcome?: string) {
    super(`${id} has ended${outcome === undefined ? "" : ` as ${outcome}`}`);
    this.details = { id, ...(outcome !== undefined && { outcome }) };
  }

  get outcome(): string | undefined {
    return this.details.outcome;
  }
}
