// The inbox of a stack, and which of its callbacks stand in the timelines of processes.
import type { PostalHandle } from "../../../src/client.js";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { callbackUrl } from "../../../src/callbacks/address.js";
import type { AccountSubject, ProcessSubject } from "../../../src/callbacks/address.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { eventually, isUnanswered } from "../outages/wait.js";
import { historyOf, ringOf, type TestStack } from "./stack.js";

/** Where a provider calls a process or an account back, with the active key of the stack's callback keys unless another ring is given. */
export function callbackAddress(
  { stack }: { stack: Pick<TestStack["stack"], "env"> },
  subject: AccountSubject | (Omit<ProcessSubject, "namespace"> & { namespace?: string }),
  ring = ringOf(stack, "CALLBACK"),
): string {
  const { TRUSTFLOW_CALLBACKS__PUBLIC_URL: url = "", TEMPORAL_NAMESPACE: namespace = "" } =
    stack.env;
  return callbackUrl(ring, url, "account" in subject ? subject : { namespace, ...subject });
}

export async function inboxRows({ pool }: TestStack, workflowId: string) {
  const { rows } = await pool.query<{ identifier: string; state: string }>(
    "select identifier, state from trustflow.callbacks where workflow_id = $1 order by id",
    [workflowId],
  );
  return rows;
}

/** As if the time of every claim were over: those of a killed relay last half a minute. */
export async function endClaims({ pool }: TestStack): Promise<void> {
  await pool.query(
    "update trustflow.callbacks set claimed_until = clock_timestamp() where state = 'waiting' and claim is not null",
  );
}

export async function inboxSettled({ pool }: Pick<TestStack, "pool">, limitMs = 45_000) {
  const sql = "select from trustflow.callbacks where state = 'waiting' limit 1";
  const isSettled = async () => (await pool.query(sql)).rowCount === 0;
  await eventually("every callback is delivered, parked or late", isSettled, limitMs);
}

type Timed = Pick<PostalHandle, "workflowId" | "timeline">;

const TIMELINE_LIMIT_MS = 180_000;

/** Every identifier of ours begins so; it is the note of the event too, by which a timeline shows it. */
export const mark = "storm-";

/** The keys of the callbacks of ours that stand in the timelines, as often as they stand there. */
export async function appliedTo(handles: readonly Timed[]): Promise<string[]> {
  const applied = handles.map(async (handle) => {
    const notes = (await timelineOf(handle)).flatMap(({ source, note }) =>
      source === "callback" && note?.startsWith(mark) ? [note] : [],
    );
    return notes.map((note) => `${handle.workflowId} ${note}`);
  });
  return (await Promise.all(applied)).flat();
}

/** A busy worker takes its time to load the process: after a storm its history is long. */
function timelineOf(handle: Timed) {
  const ask = () =>
    handle.timeline().catch((error: unknown) => {
      if (!isUnanswered(error)) throw error;
      return undefined;
    });
  return eventually(`the timeline of ${handle.workflowId}`, ask, TIMELINE_LIMIT_MS);
}

/** The events of each signal in a process's history. */
export async function signalledEvents(
  system: TestStack,
  workflowId: string,
): Promise<ProviderEvent[][]> {
  const { events } = await historyOf(system, workflowId);
  const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal?.signalName === "providerEvents" ? [signal] : [],
  );
  const { loadedDataConverter } = system.client.temporal.options;
  const decoded = await Promise.all(
    signals.map(({ input }) => decodeArrayFromPayloads(loadedDataConverter, input?.payloads)),
  );
  return decoded.map(([given]) => given as ProviderEvent[]);
}
