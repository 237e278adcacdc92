// The base of every error that the client throws. Each class has a file of its own, and docs/reference/client-errors.md is made from them.

const PAGE = "docs/reference/client-errors.md";

export abstract class TrustflowError extends Error {
  /** Names the case, and stays the same in every release. */
  abstract readonly code: string;
  /** True if the same call with the same ids can succeed later. */
  readonly retryable: boolean = false;
  /** Plain JSON for a log or an alert: no secret, and no personal data. */
  readonly details: object = {};

  /** The name, written out in each class, because a bundler may rename the class. */
  static readonly errorName: string;

  override get name(): string {
    return (this.constructor as typeof TrustflowError).errorName;
  }

  /** The section of the class on a page of this package. */
  get docs(): string {
    return `${PAGE}#${this.name.toLowerCase()}`;
  }
}
