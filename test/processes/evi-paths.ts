// What the paths of `sendPostal` and `sendNotice` share: a submit whose answer is lost, or that is refused.
import type { AnyHandle } from "../../src/client.js";
import { attentionOf, decide, ends, isAbandoned } from "../harness/histories/path-run.js";
import type { Path, PathRun } from "../harness/histories/path-run.js";
import { eventually } from "../harness/outages/wait.js";
import { itemOf, refused } from "./ways.js";
import type { Waiting } from "./ways.js";

interface EviProcess<H> {
  /** By which a submit is found again. */
  query: string;
  /** The words of an item that ends well, and its outcome. */
  good: string;
  begin(run: PathRun, words?: string, more?: { account?: string }): Promise<H>;
}

/** The parts of paths that need an operator, for a process in the path's own account. */
export function eviAttention<H extends AnyHandle>({ query, good, begin }: EviProcess<H>) {
  /** The outcome of the submit is unknown: the answer was lost and the query is refused. */
  async function uncertain(run: PathRun, fault: "cut" | "cut-after-commit"): Promise<Waiting<H>> {
    const mend = await refused(run, query);
    const handle = await begin(run, `${good},submit=${fault}`, { account: run.account });
    await attentionOf(handle, "protocol");
    return { handle, mend };
  }

  const paths: Record<string, Path> = {
    async "attention-retry"(run) {
      const { handle, mend } = await uncertain(run, "cut");
      await mend();
      await decide(run, handle, "protocol", "retry");
      // No look-up of this account has found an item of ours yet: only an operator's decision sends this one again.
      await decide(run, handle, "unknownOutcome", "retry");
      await ends(handle, good);
    },
    async "attention-happened"(run) {
      const { handle, mend } = await uncertain(run, "cut-after-commit");
      await decide(run, handle, "protocol", "happened", { uniqueId: await itemOf(run) });
      await mend();
      await ends(handle, good);
    },
    async "attention-abandoned"(run) {
      const { handle, mend } = await uncertain(run, "cut");
      await decide(run, handle, "protocol", "abandon");
      await isAbandoned(handle, "unknown");
      await mend();
    },
  };
  return { uncertain, paths };
}

/** Waits until the sandbox has an item of this process, although no answer came yet. */
export function submitsSeen({ system, intent }: PathRun): Promise<unknown> {
  return eventually(`a submit of ${intent}`, async () => {
    const { total } = await system.sandbox.items({ intent });
    return total > 0;
  });
}
