// An answer that shows nothing yet, where the caller can go on without it.
import { ProviderError } from "../../providers/errors/provider-error.js";

/** What is read, or `nothing` where the provider does not show it, not yet or not any more. */
export async function whenVisible<T, N>(reading: Promise<T>, nothing: N): Promise<T | N> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "notVisibleYet") return nothing;
    throw error;
  }
}
