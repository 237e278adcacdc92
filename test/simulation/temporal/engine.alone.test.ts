// One program runs on the Temporal dev server and on the simulated Temporal, with the SDK's own worker. Both write the same history, and the
// SDK's native core replays the simulated one.
import { beforeAll, expect, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
} from "@temporalio/worker";
import { ApplicationFailure } from "@temporalio/common";
import { Context } from "@temporalio/activity";
import { fileURLToPath } from "node:url";
import { eventually } from "../../harness/outages/wait.js";
import { startServer } from "../../temporal/support.js";
import { openTemporalDoor } from "../doors/temporal.js";
import { EventType, api, isOfCommand } from "./history.js";
import type { HistoryEvent } from "./history.js";
import { TemporalServer } from "./server.js";
import { replayProblems } from "./judge.js";
import { shapesOf } from "./shape.js";

const { IndexedValueType } = api.api.enums.v1;
const server = new TemporalServer({ namespace: "default", retentionDays: 1, random: () => 0 });
const problems: string[] = [];
const taskQueue = "simulated";
let bundle: { code: string };
let onServer: Played;
let simulated: Played;

interface Played {
  said: unknown[];
  shapes: object;
  serverVersion: string;
}

function activities() {
  let tries = 0;
  return {
    async work(input: string): Promise<string> {
      if (input === "fails") throw ApplicationFailure.nonRetryable("never");
      if (input === "fails twice" && (tries += 1) < 3)
        throw ApplicationFailure.retryable("not yet");
      if (input === "asks for an hour")
        throw ApplicationFailure.create({ nextRetryDelay: "1 hour" });
      return `done ${input}`;
    },
    async remember(): Promise<string> {
      const { info, heartbeat } = Context.current();
      if (info.attempt > 1) return `remembers ${info.heartbeatDetails}`;
      heartbeat("the first attempt");
      throw ApplicationFailure.retryable("not yet");
    },
    async hang(): Promise<void> {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), 100);
      await context.cancelled.finally(() => clearInterval(beat));
    },
  };
}

beforeAll(async () => {
  process.env["TEMPORAL_DEBUG"] = "1";
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter: "OFF" } },
  });
  bundle = await bundleWorkflowCode({
    logger: new DefaultLogger("ERROR"),
    workflowsPath: fileURLToPath(new URL("every-command.workflows.ts", import.meta.url)),
  });
  const real = await startServer();
  try {
    onServer = await play(real.address);
  } finally {
    await real.teardown();
  }
  openTemporalDoor({
    server: () => server,
    asServer: (work) => work(),
    latencyMs: () => 1,
    onNondeterminism: (_, problem) => problems.push(problem),
  });
  simulated = await play("anywhere");
}, 120_000);

/** The program with its persons, at the server that the SDK connects to. */
async function play(address: string): Promise<Played> {
  const client = new Client({ connection: await Connection.connect({ address }) });
  await client.connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: { Step: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
  });
  const its = activities();
  const start = async () => {
    const connection = await NativeConnection.connect({ address });
    const worker = await Worker.create({
      ...{ connection, taskQueue, activities: its, workflowBundle: bundle, maxCachedWorkflows: 2 },
    });
    const running = worker.run();
    return async () => {
      worker.shutdown();
      await running;
      await connection.close();
    };
  };
  const stopFirst = await start();
  const handle = await client.workflow.start("parent", {
    workflowId: "one",
    taskQueue,
    args: ["one"],
  });
  const ask = () => handle.query<string[]>("seen");
  await at(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED);
  await handle.signal("on");
  await at(handle, EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED);
  const refused = await handle
    .executeUpdate("change", { updateId: "bad", args: ["bad"] })
    .catch((error: Error) => error.constructor.name);
  const changed = await handle.executeUpdate("change", { updateId: "good", args: ["good"] });
  await at(handle, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED);
  await stopFirst();
  const stopSecond = await start();
  await handle.signal("add", "more");
  await at(handle, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED);
  const seen = await ask();
  await handle.signal("add", "end");
  const result = await handle.result();
  const troubles = await Promise.all([
    troubled(client, "cancelled", (one) => one.cancel()),
    troubled(client, "terminated", (one) => one.terminate("as wished")),
  ]);
  await stopSecond();
  const ids = ["one", "one.child", "one.failing", "cancelled", "terminated"];
  const shapes: Record<string, object> = {};
  for (const id of ids)
    shapes[id] = shapesOf((await client.workflow.getHandle(id).fetchHistory()).events ?? []);
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  await client.connection.close();
  return { said: [refused, changed, seen, result, ...troubles], shapes, serverVersion };
}

async function troubled(
  client: Client,
  workflowId: string,
  end: (handle: WorkflowHandle) => Promise<unknown>,
): Promise<unknown[]> {
  const handle = await client.workflow.start("troubled", {
    workflowId,
    taskQueue,
    args: [workflowId],
  });
  await at(handle, EventType.EVENT_TYPE_TIMER_CANCELED);
  const seen = await handle.query<string[]>("seen");
  await end(handle);
  const { name } = await handle.result().catch((error: Error) => error.cause as Error);
  return [...seen, name];
}

/** Until such an event was written, and the workflow has nothing more to do. */
async function at(handle: WorkflowHandle, eventType: number): Promise<void> {
  await eventually("the event", async () => {
    const { events } = await handle.fetchHistory();
    const all = (events ?? []) as HistoryEvent[];
    const last = all.findLast((event) => !isOfCommand(event));
    const isQuiet = last?.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
    return isQuiet && all.some((event) => event.eventType === eventType);
  });
}

const seen = [
  ...["done first", "done fails twice", "cancelled", "child of one", "child failed"],
  ...["done good", "more"],
];

const troubles = [
  ...["refused: ActivityFailure", "late: ActivityFailure"],
  ...["no attempt: TIMEOUT", "remembers the first attempt"],
  ...["known: WorkflowExecutionAlreadyStartedError", "timer: CancelledFailure"],
];

test("runs each kind of command", () => {
  expect(simulated.said).toEqual([
    "WorkflowUpdateFailedError",
    "changed good",
    seen,
    [...seen, "end"],
    [...troubles, "CancelledFailure"],
    [...troubles, "TerminatedFailure"],
  ]);
  expect(problems).toEqual([]);
});

test("writes the histories that the dev server writes", () => {
  expect(simulated.said).toEqual(onServer.said);
  // Servers before 1.30 leave these markers out.
  const isOld = onServer.serverVersion.startsWith("1.29.");
  const { shapes } = simulated;
  expect(isOld ? without("eventGroupMarkers", shapes) : shapes).toEqual(onServer.shapes);
});

function without(member: string, shapes: object): unknown {
  return JSON.parse(
    JSON.stringify(shapes, (name, value: unknown) => (name === member ? undefined : value)),
  );
}

test("the core replays what it wrote, and refuses a history that says something else", async () => {
  const runs = [...server.runs.values()];
  const options = { workflowBundle: bundle };
  expect(await replayProblems(runs, options)).toEqual([]);
  const broken = runs.map(({ id, events }) => ({
    id,
    events: id === "one" ? events.map(withOtherActivity) : events,
  }));
  expect(await replayProblems(broken, options)).toEqual([expect.stringMatching(/^one: /)]);
});

function withOtherActivity(event: HistoryEvent): HistoryEvent {
  const { activityTaskScheduledEventAttributes: scheduled } = event;
  if (!scheduled) return event;
  const other = { ...scheduled, activityType: { name: "other" } };
  return { ...event, activityTaskScheduledEventAttributes: other };
}
