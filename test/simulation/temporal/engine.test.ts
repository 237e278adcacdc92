// The simulated Temporal runs workflows of the SDK's own worker, and the SDK's native core replays the histories that it writes.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
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
import { openTemporalDoor } from "../doors/temporal.js";
import { TemporalServer } from "./server.js";
import { replayProblems } from "./judge.js";

const server = new TemporalServer({ namespace: "default", retentionDays: 1, random: () => 0 });
const problems: string[] = [];
const taskQueue = "simulated";
let worker: Worker;
let running: Promise<void>;
let client: Client;
let bundle: { code: string };
let tries = 0;

const activities = {
  async work(input: string): Promise<string> {
    if (input === "fails twice" && (tries += 1) < 3) throw ApplicationFailure.retryable("not yet");
    return `done ${input}`;
  },
  async hang(): Promise<void> {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), 100);
    await context.cancelled.finally(() => clearInterval(beat));
  },
};

beforeAll(async () => {
  process.env["TEMPORAL_DEBUG"] = "1";
  openTemporalDoor({
    server: () => server,
    asServer: (work) => work(),
    latencyMs: () => 1,
    onNondeterminism: (_, problem) => problems.push(problem),
  });
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  bundle = await bundleWorkflowCode({
    logger: new DefaultLogger("ERROR"),
    workflowsPath: fileURLToPath(new URL("every-command.workflows.ts", import.meta.url)),
  });
  client = new Client({ connection: await Connection.connect() });
  await startWorker();
});

afterAll(() => stopWorker());

async function startWorker(): Promise<void> {
  const connection = await NativeConnection.connect();
  worker = await Worker.create({
    ...{ connection, taskQueue, activities, workflowBundle: bundle, maxCachedWorkflows: 2 },
  });
  running = worker.run();
}

async function stopWorker(): Promise<void> {
  worker.shutdown();
  await running;
}

test("runs each kind of command, and the core replays what it wrote", async () => {
  const handle = await client.workflow.start("parent", {
    workflowId: "one",
    taskQueue,
    args: ["one"],
  });
  const ask = () => handle.query<string[]>("seen");
  await until(async () => (await ask()).includes("child failed"));
  await expect(handle.executeUpdate("change", { args: ["bad"] })).rejects.toThrow();
  expect(await handle.executeUpdate("change", { args: ["good"] })).toBe("changed good");
  await stopWorker();
  await startWorker();
  await handle.signal("add", "more");
  expect(await ask()).toContain("more");
  await handle.signal("add", "end");
  expect(await handle.result()).toEqual([
    ...[
      "done first",
      "done fails twice",
      "cancelled",
      "child of one",
      "child failed",
      "done good",
      "more",
      "end",
    ],
  ]);
  expect(problems).toEqual([]);
  expect(await replayProblems([...server.runs.values()], { workflowBundle: bundle })).toEqual([]);
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}
