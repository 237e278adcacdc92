// Temporal: there, its namespace fit for us, open processes readable, and with the same time.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "@temporalio/client";
import { type Config, ConfigurationError } from "../../config.js";
import { processes } from "../../contracts/shared/names.js";
import { DecryptionError, UnknownKeyError } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { historyDays } from "../../temporal/connection.js";
import { connectPlain } from "../../roles/temporal.js";
import { CALL_MS, Problem } from "./check.js";
import { compareClocks } from "./clock.js";

export interface Temporal {
  connection: Connection;
  namespace: string;
  address: string;
}

const NOT_FOUND = 5;
const ACTIVITY_QUEUE = 2;
/** Nobody schedules here. */
const CLOCK_QUEUE = { name: "trustflow.doctor" };
/** So many open processes are listed; the first and the last of them are read. */
const LISTED = 500;

export async function openTemporal(): Promise<Temporal> {
  try {
    return await connectPlain();
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new Problem("temporalAway", (error as Error).message);
  }
}

/** Journal ≥ histories ≥ inbox (docs/design.md §8). A sandbox's histories are nobody's evidence. */
export async function retention(
  { connection, namespace }: Temporal,
  { environment, retention: { inboxDays, journalDays } }: Config,
): Promise<string> {
  const days = await withDeadline(connection, () => historyDays(connection, namespace)).catch(
    (error: unknown) => {
      if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
      throw new Problem("namespaceMissing", `the namespace ${namespace} does not exist`);
    },
  );
  const kept = `the namespace ${namespace} keeps histories for ${days} days`;
  if (days > journalDays)
    throw new Problem("retentionTooLong", `${kept}, longer than retention.journalDays`);
  if (days < inboxDays && environment !== "sandbox")
    throw new Problem(
      "retentionTooShort",
      `${kept}, shorter than retention.inboxDays: then a process can neither be reset nor audited`,
    );
  return environment === "sandbox" && days < inboxDays
    ? `${kept}; not compared with retention.inboxDays in the sandbox`
    : kept;
}

export async function attributes({ connection, namespace }: Temporal): Promise<string> {
  const { missingSearchAttributes } =
    await import("../../temporal/visibility/search-attributes.js");
  const missing = await withDeadline(connection, () =>
    missingSearchAttributes(connection, namespace),
  ).catch((error: Error) => {
    // What the server says has a code; ours says which type is wrong.
    if ("code" in error) throw error;
    throw new Problem("searchAttributeOfOtherType", error.message);
  });
  if (missing.length === 0) return `all in the namespace ${namespace}`;
  throw new Problem(
    "searchAttributesMissing",
    `the namespace ${namespace} lacks ${missing.join(", ")}`,
  );
}

/** Whether the ring opens the inputs of the newest open process and of an old one. */
export async function openProcesses(
  { connection, namespace }: Temporal,
  ring: KeyRing,
): Promise<string> {
  const { EncryptionCodec } = await import("../../temporal/codec/codec.js");
  const codec = new EncryptionCodec(ring);
  const types = processes.map((name) => `'${name}'`).join(", ");
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN (${types})`;
  const { workflowService } = connection;
  const { executions } = await withDeadline(connection, () =>
    workflowService.listWorkflowExecutions({ namespace, query, pageSize: LISTED }),
  );
  const samples = new Set([executions[0], executions.at(-1)]);
  for (const sample of samples) {
    if (!sample?.execution) continue;
    const { execution } = sample;
    const { history } = await withDeadline(connection, () =>
      workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 }),
    );
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    await codec.decode(started?.input?.payloads ?? []).catch((error: unknown) => {
      const about = `${execution.workflowId} is open and cannot be read`;
      if (error instanceof UnknownKeyError)
        throw new Problem("codecKeyMissing", `${about}: ${error.message}`);
      if (error instanceof DecryptionError)
        throw new Problem("codecKeyWrong", `${about}: ${error.message}`);
      throw error;
    });
  }
  return executions.length === 0 ? "none is open" : "the newest and an old one can be read";
}

/** Whether workflow tasks of an open process keep failing; of very many open processes only some are looked at. */
export async function stuckProcesses({ connection, namespace }: Temporal): Promise<string> {
  const { candidatesQuery, listExecutions, filterStuck } =
    await import("../../temporal/visibility/stuck.js");
  const where = { connection, namespace };
  const found: { id: string; isRepaired: boolean }[] = [];
  let looked = 0;
  async function* some(query: string) {
    for await (const execution of listExecutions(where, query)) {
      if ((looked += 1) > LISTED) return;
      yield execution;
    }
  }
  for await (const { execution, stuck } of filterStuck(where, some(await candidatesQuery(where))))
    found.push({ id: execution.workflowId, isRepaired: stuck.repairedAt !== undefined });
  const more = looked > LISTED ? ` among the ${LISTED} newest open ones` : "";
  if (found.length === 0) return `none${more}`;
  const first = found.find(({ isRepaired }) => isRepaired) ?? found[0];
  throw new Problem(
    first?.isRepaired ? "repairFailed" : "processesStuck",
    `${found.length}${more}, such as ${first?.id}${first?.isRepaired ? ", which was repaired once without success" : ""}`,
  );
}

/** No call tells the server's time, but it stamps who polls: so we poll where nothing ever comes. */
export async function temporalClock({ connection, namespace }: Temporal): Promise<string> {
  const { workflowService } = connection;
  const identity = `trustflow-doctor/${randomUUID()}`;
  const taskQueue = CLOCK_QUEUE;
  const stop = new AbortController();
  const before = Date.now();
  const poll = connection.withAbortSignal(stop.signal, () =>
    withDeadline(connection, () =>
      workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity }),
    ),
  );
  let refused: unknown;
  poll.catch((error: unknown) => (refused = error));
  try {
    for (const end = Date.now() + CALL_MS; Date.now() < end; await sleep(100)) {
      if (refused) throw refused;
      const { pollers } = await withDeadline(connection, () =>
        workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: ACTIVITY_QUEUE }),
      );
      const stamp = pollers.find((poller) => poller.identity === identity)?.lastAccessTime;
      if (!stamp) continue;
      const theirs = Number(stamp.seconds) * 1_000 + (stamp.nanos ?? 0) / 1e6;
      return compareClocks(before, theirs, Date.now());
    }
  } finally {
    stop.abort();
  }
  throw new Problem("notChecked", "not checked: the server does not show when we polled");
}

function withDeadline<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + CALL_MS, work);
}
