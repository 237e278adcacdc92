// A document that could be read before the first effect, and cannot be read when it is sent.
import type { Operation, Provider } from "../../providers/registry.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { InvalidInput } from "./failure.js";

/** The process must not fail for it, as something exists at the provider by then: an operator restores it and retries. */
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
