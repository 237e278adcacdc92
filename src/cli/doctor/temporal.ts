// Checks that Temporal is reachable, its namespace suitable, open processes readable and stuck ones repaired, and that its
// clock is right.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "@temporalio/client";
import { foreignness, namespacesOf } from "../../cleanup/own-namespaces.js";
import { type Config, ConfigurationError } from "../../config/config.js";
import { mayOnlyRead } from "../../config/payload-keys.js";
import { processes } from "../../contracts/registry.js";
import { DecryptionError, UnknownKeyError } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { historyDays } from "../../temporal/connection.js";
import { isNotFound } from "../../temporal/grpc-status.js";
import { webUiListNames, webUiLists } from "../../temporal/visibility/web-ui.js";
import type { Pool } from "../../postgres/pool.js";
import { connectPlain } from "../../roles/temporal.js";
import { CALL_MS, compareClocks, Problem, ring, skippedCheck, withOpened } from "./check.js";
import type { Check } from "./check.js";

interface Temporal {
  connection: Connection;
  namespace: string;
  address: string;
}

const ACTIVITY_QUEUE = 2;
/** An activity queue that no workflow uses. */
const CLOCK_QUEUE = { name: "trustflow.doctor" };
/** The number of open processes that are listed; the first and the last of them are decoded. */
const LISTED = 500;

export async function openTemporal(): Promise<Temporal> {
  try {
    return await connectPlain();
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new Problem("temporalAway", (error as Error).message);
  }
}

/** `of`: an application may be allowed less than an operator, so it gets only what it needs. */
export function temporalChecks(
  config: Config,
  opened: Promise<Temporal>,
  of: "deployment" | "client",
): Check[] {
  const here = (work: (temporal: Temporal) => Promise<string>) => () =>
    withOpened("Temporal", opened, work);
  const isClient = of === "client";
  const keys = () => ring(config, isClient && mayOnlyRead(config) ? "codecRead" : "codec");
  const both: Check[] = [
    ["temporal", async () => `answers at ${(await opened).address}`],
    ["namespace", here(isClient ? namespaceIsThere : (temporal) => retention(temporal, config))],
    ["search attributes", here(attributes)],
    ["open processes", here((temporal) => openProcesses(temporal, keys()))],
  ];
  if (isClient) return both;
  return [
    ...both,
    ["stuck processes", here(stuckProcesses)],
    ["clock of Temporal", here(temporalClock)],
    ...webUi(config, opened),
  ];
}

/** No checks: where a person goes from here. The codec server lets these origins alone decode, so the Web UI is one of them. */
function webUi({ codecServer: { corsOrigins } }: Config, opened: Promise<Temporal>): Check[] {
  const [origin] = corsOrigins;
  if (origin === undefined)
    return [
      skippedCheck("Web UI", "codecServer.corsOrigins, which has its address, is not set here"),
    ];
  return webUiListNames.map((name): Check => [
    `Web UI: ${name}`,
    () =>
      withOpened(
        "Temporal",
        opened,
        async ({ namespace }) => webUiLists(origin, namespace, new Date())[name],
      ),
  ]);
}

/** Journal ≥ histories ≥ inbox (docs/design.md §8). Histories of a sandbox are not evidence. */
async function retention(
  { connection, namespace }: Pick<Temporal, "connection" | "namespace">,
  { environment, retention: { inboxDays, journalDays } }: Config,
): Promise<string> {
  const days = await keptDays({ connection, namespace });
  const kept = `the namespace ${namespace} keeps histories for ${days} ${days === 1 ? "day" : "days"}`;
  if (days > journalDays)
    throw new Problem("retentionTooLong", `${kept}, which is longer than retention.journalDays`);
  if (days < inboxDays && environment !== "sandbox")
    throw new Problem(
      "retentionTooShort",
      `${kept}, which is shorter than retention.inboxDays: an older process cannot be reset or audited`,
    );
  return environment === "sandbox" && days < inboxDays
    ? `${kept}; not compared with retention.inboxDays in the sandbox`
    : kept;
}

async function namespaceIsThere(temporal: Temporal): Promise<string> {
  await keptDays(temporal);
  return `the namespace ${temporal.namespace} exists`;
}

async function keptDays({
  connection,
  namespace,
}: Pick<Temporal, "connection" | "namespace">): Promise<number> {
  return withDeadline(connection, () => historyDays(connection, namespace)).catch(
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new Problem("namespaceMissing", `the namespace ${namespace} does not exist`);
    },
  );
}

/** `cleanup` and `erase` believe no other ones (docs/decisions/0018): the configured namespace, and those of the rows. */
export async function ownNamespace(
  { connection, namespace }: Temporal,
  pool: Pool,
): Promise<string> {
  const namespaces = await namespacesOf(pool, namespace);
  for (const one of namespaces) {
    const problem = await withDeadline(connection, () => foreignness(pool, connection, one));
    if (problem !== undefined) throw new Problem("namespaceNotOwn", problem);
  }
  return `of the database: ${namespaces.join(", ")}`;
}

async function attributes({ connection, namespace }: Temporal): Promise<string> {
  const { missingSearchAttributes } =
    await import("../../temporal/visibility/search-attributes.js");
  const missing = await withDeadline(connection, () =>
    missingSearchAttributes(connection, namespace),
  ).catch((error: unknown) => {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Problem("searchAttributeOfOtherType", error.message);
  });
  if (missing.length === 0) return `all in the namespace ${namespace}`;
  throw new Problem(
    "searchAttributesMissing",
    `the namespace ${namespace} lacks ${missing.join(", ")}`,
  );
}

/** Checks that the key ring opens the inputs of the newest open process and of an old one. */
async function openProcesses({ connection, namespace }: Temporal, keys: KeyRing): Promise<string> {
  const { EncryptionCodec } = await import("../../temporal/codec/codec.js");
  const codec = new EncryptionCodec(keys);
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
      const about = `${execution.workflowId} is open but unreadable`;
      if (error instanceof UnknownKeyError)
        throw new Problem("codecKeyMissing", `${about}: ${error.message}`);
      if (error instanceof DecryptionError)
        throw new Problem("codecKeyWrong", `${about}: ${error.message}`);
      throw error;
    });
  }
  return executions.length === 0 ? "none is open" : "the newest and an old one are readable";
}

/** Checks whether workflow tasks of open processes keep failing; of very many open processes it looks at some only. */
async function stuckProcesses({ connection, namespace }: Temporal): Promise<string> {
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
    `${found.length}${more}, such as ${first?.id}${first?.isRepaired ? ", which a repair did not fix" : ""}`,
  );
}

/** Temporal has no call for its time, but it stamps pollers. So this polls an unused queue and reads the stamp. */
async function temporalClock({ connection, namespace }: Temporal): Promise<string> {
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
  throw new Problem("notChecked", "not checked: the server does not report the time of our poll");
}

function withDeadline<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + CALL_MS, work);
}
