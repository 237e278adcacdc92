// A document that was looked at before the first effect, and cannot be read when it is to be sent.
import type { Operation, Provider } from "../../providers/effect-classes.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { InvalidInput } from "./failure.js";

/** What exists at the provider must not fail for want of it: a person brings it back and has it sent (`retry`). */
export async function unlessMissing<P extends Provider, T>(
  provider: P,
  operation: Operation<P>,
  sending: Promise<T>,
): Promise<T> {
  try {
    return await sending;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const found = error.fields[0]?.problem.replaceAll(" ", "-") ?? "cannot-be-read";
    throw new ProviderError({
      ...{ kind: "protocol", effect: "none", provider, operation },
      problem: "a document of ours cannot be sent",
      code: `our-document-${found}`,
    });
  }
}
