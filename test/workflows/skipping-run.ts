// Runs processes on the time-skipping Temporal server, with the real workflow bundle. What their activities find is told by the test;
// how an attempt fails, and when it is made again, is decided by the real code of the activities.
import { activityInfo } from "@temporalio/activity";
import { Client } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { asActivity } from "../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../src/activities/runtime/failure.js";
import {
  buildId,
  providerTaskQueue,
  workflowIdOf,
  workflowTaskQueue,
} from "../../src/contracts/shared/names.js";
import { registerSearchAttributes } from "../../src/temporal/visibility/search-attributes.js";
import { startSkippingServer } from "../harness/outages/time.js";

export const DAY_SECONDS = 86_400;

/** What an activity finds at `nowMs`, the time of the server: it answers, or throws what the body of a real activity throws. */
export type FakeActivity = (given: any, nowMs: number) => unknown;

const queues = [
  "evi-post",
  "evi-notice",
  "evi-notice-batch",
  "disposable-certificate",
  "one-shot-signature",
  "video-identification",
].map((name) => providerTaskQueue(name));

export interface Ended {
  /** What the process has returned, or its failure. */
  result: any;
  days: number;
}

export class SkippingRuns {
  readonly #env: TestWorkflowEnvironment;
  /** Its waits do not move the clock: the server cannot count more than one that does. */
  readonly #client: Client;
  readonly #workers: Worker[];
  readonly #running: Promise<unknown>;
  readonly #found: Map<string, Record<string, FakeActivity>>;

  private constructor(
    env: TestWorkflowEnvironment,
    workers: Worker[],
    found: Map<string, Record<string, FakeActivity>>,
  ) {
    this.#env = env;
    this.#client = new Client({ connection: env.connection });
    this.#workers = workers;
    this.#found = found;
    this.#running = Promise.all(workers.map((worker) => worker.run()));
    this.#running.catch(() => undefined);
  }

  static async begin(): Promise<SkippingRuns> {
    // Attempts that find nothing new would fill the screen.
    Runtime.install({
      logger: new DefaultLogger("ERROR", () => undefined),
      telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
    });
    const source = (file: string) =>
      fileURLToPath(new URL(`../../src/workflows/${file}`, import.meta.url));
    const [env, workflowBundle] = await Promise.all([
      startSkippingServer(),
      bundleWorkflowCode({
        workflowsPath: source("index.ts"),
        workflowInterceptorModules: [source("runtime/status-memo.ts")],
        logger: new DefaultLogger("ERROR", () => undefined),
      }),
    ]);
    await registerSearchAttributes(env.connection, "default");
    const found = new Map<string, Record<string, FakeActivity>>();
    const connection = env.nativeConnection;
    const activities = { default: (given: any) => attempt(env, found, given) };
    const workers = await Promise.all([
      Worker.create({
        connection,
        taskQueue: workflowTaskQueue,
        workflowBundle,
        buildId,
        activities,
      }),
      ...queues.map((taskQueue) => Worker.create({ connection, taskQueue, activities })),
    ]);
    return new SkippingRuns(env, workers, found);
  }

  /** Starts the process; its id and its children's begin with `id`. */
  async start(
    processName: string,
    id: string,
    found: Record<string, FakeActivity>,
    input: object = {},
  ) {
    this.#found.set(id, found);
    return this.#client.workflow.start(processName, {
      workflowId: workflowIdOf(processName, id),
      taskQueue: workflowTaskQueue,
      args: [input],
    });
  }

  async pass(days: number): Promise<void> {
    await this.#env.sleep(days * DAY_SECONDS * 1_000);
  }

  async endOf(handle: WorkflowHandle): Promise<Ended> {
    const { startTime, closeTime } = await handle.describe();
    if (!closeTime) throw new Error(`${handle.workflowId} has not ended`);
    const result = await handle.result().catch(({ cause }: Error) => cause);
    const days = (closeTime.getTime() - startTime.getTime()) / (DAY_SECONDS * 1_000);
    return { result, days };
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.shutdown();
    await this.#running;
    await this.#env.teardown();
  }
}

function attempt(
  env: TestWorkflowEnvironment,
  found: Map<string, Record<string, FakeActivity>>,
  given: any,
): Promise<unknown> {
  const { activityType, workflowExecution } = activityInfo();
  const [, id = ""] = workflowExecution?.workflowId.split(/[/.]/) ?? [];
  const find = found.get(id)?.[activityType];
  const { mode = "quick" } = (given ?? {}) as { mode?: AttemptMode };
  const about = {
    ...{ provider: "trustflow", operation: activityType, environment: "sandbox" },
    ...{ account: "default", mode, patienceMs: 60_000, unavailableForMs: 3_600_000 },
  };
  return asActivity(about, async () => {
    if (!find) throw new Error(`${id} calls ${activityType}`);
    // Not the time of the attempt: this server gives that of the attempt before.
    return find(given, await env.currentTimeMs());
  });
}
