// The call of an update by which a person decides, for an effect without a token: an error is the update's answer, and an earlier
// request in doubt is not followed by another one (docs/reading-the-specification.md §0, §9).
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Provider } from "../../providers/registry.js";
import { isUnanswered, refusalIn } from "./one-time-password.js";
import { unless } from "./polling.js";
import type { ProviderContext } from "./provider-context.js";

type Unmade = "refused" | "unknown" | "unavailable";

/** The update's answer: what the work returns, or what its error says. */
export async function updateAnswer<A>(work: () => Promise<A>): Promise<{ answer: A | Unmade }> {
  try {
    return { answer: await work() };
  } catch (error) {
    if (refusalIn(error)) return { answer: "refused" };
    if (isUnanswered(error)) return { answer: "unknown" };
    if (!(error instanceof ProviderError)) throw error;
    return { answer: error.kind === "protocol" ? "refused" : "unavailable" };
  }
}

/** Earlier updates, also of other runs, have made these requests in one of the `steps`. */
interface EarlierRequests {
  /** The step that the provider has answered. */
  answered?: string;
  /** The outcome of one is unknown. */
  isOpen: boolean;
  /** One of these may not be over. */
  isUnderWay: boolean;
}

export async function earlierRequests<P extends Provider>(
  context: ProviderContext<P>,
  steps: readonly string[],
): Promise<EarlierRequests> {
  const now = await context.deps.journal.now();
  const tried = await context.rowsOf(...steps);
  const answered = tried.find(({ state }) => state === "answered")?.step;
  const open = tried.filter(({ state }) => state === "sending");
  return {
    ...(answered !== undefined && { answered }),
    isOpen: open.length > 0,
    isUnderWay: open.some(({ leaseUntil }) => leaseUntil !== undefined && leaseUntil > now),
  };
}

/** Undefined where the provider does not answer: it shows nothing then. */
export const ifShown = <T>(asking: Promise<T>) => unless(() => true, asking);
