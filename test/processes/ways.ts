// What the paths of several processes share: how a process begins, comes to wait, and goes on once its account is repaired.
import type { AnyHandle } from "../../src/client.js";
import type { Decision } from "../../src/contracts/shared/messages.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import {
  attentionOf,
  cancelledWhile,
  changePassword,
  ends,
  faulty,
} from "../harness/histories/path-run.js";
import type { After, Path, PathRun } from "../harness/histories/path-run.js";
import { eventually } from "../harness/outages/wait.js";
import { statusWhere } from "../harness/stack/stack.js";

/** A process that waits for a person, and what repairs the reason. */
export interface Waiting<H> {
  handle: H;
  mend(): Promise<unknown>;
}

/** The ways of a process that begins with the sandbox's words and more of its input, until it waits for what comes from outside. */
export function waysOf<H extends AnyHandle, W, M extends object>(
  begin: (run: PathRun, words?: W, more?: M) => Promise<H>,
  isOpen: (status: ProcessStatus) => boolean = ({ phase }) => phase === "tracking",
) {
  return {
    through(outcome: string, words?: W, more?: M): Path {
      return async (run) => ends(await begin(run, words, more), outcome);
    },
    async opened(run: PathRun, words?: W, more?: M): Promise<H> {
      const handle = await begin(run, words, more);
      await statusWhere(handle, isOpen);
      return handle;
    },
    /** The path's own account has wrong secrets. */
    async denied(run: PathRun): Promise<Waiting<H>> {
      const mend = await changePassword(run);
      const handle = await begin(run, undefined, { account: run.account } as M);
      await attentionOf(handle, "accessDenied");
      return { handle, mend };
    },
  };
}

/** What it waits for is repaired, and it goes on. */
export const mended =
  <H extends AnyHandle>(begin: (run: PathRun) => Promise<Waiting<H>>, after: After<H>): Path =>
  async (run) => {
    const { handle, mend } = await begin(run);
    await mend();
    await after(run, handle);
  };

/** Cancelled in the Web UI while it waits. Where a person lets it go on, what it waits for is repaired. */
export const cancelled =
  <H extends AnyHandle>(begin: (run: PathRun) => Promise<Waiting<H>>) =>
  (decision: Decision, after: After<H>): Path =>
  async (run) => {
    const { handle, mend } = await cancelledWhile(begin)(run, decision);
    if (decision === "retry") await mend();
    await after(run, handle);
  };

/** For `cancelled`: it waits for a person, and nothing has to be repaired. */
export const unbroken =
  <H extends AnyHandle>(begin: (run: PathRun) => Promise<H>) =>
  async (run: PathRun): Promise<Waiting<H>> => ({
    handle: await begin(run),
    mend: () => Promise.resolve(),
  });

export const waitingFor =
  (what: string) =>
  (status: ProcessStatus): boolean =>
    status.waitingFor === what;

export const awaits = (handle: AnyHandle, what: string) => statusWhere(handle, waitingFor(what));

/** An operation of the path's own account is refused until that is fixed. */
export function refused(run: PathRun, operation: string, status = 400) {
  return faulty(run, { operation, kind: "reject", status, times: "always" });
}

/** An operation is refused for this intent until that is fixed. */
export async function refusedFor(
  { system: { sandbox }, intent }: Pick<PathRun, "system" | "intent">,
  operation: string,
  status: number,
) {
  const { id } = await sandbox.addFault({
    ...{ operation, lookupKey: intent, kind: "reject", status, times: "always" },
  });
  return { id, mend: () => sandbox.removeFault(id) };
}

/** The id of what the provider made first for the process. */
export async function itemOf({ system, intent }: PathRun): Promise<string> {
  const { items } = await system.sandbox.items({ intent });
  return items[0]?.id ?? "";
}

/** The provider closes a notice once it is delivered. */
export async function closesNotice(
  { system: { sandbox }, intent }: PathRun,
  outcome?: string,
): Promise<void> {
  const id = await eventually("the delivery", async () => {
    const { items } = await sandbox.items({ intent });
    return items.find(({ state }) => state === "Delivered")?.id;
  });
  await sandbox.move(id, { state: "Closed", ...(outcome !== undefined && { outcome }) });
}
