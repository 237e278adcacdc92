// A client that refuses plaintext believes no end, no refusal and no first input that a stranger's worker or client has written,
// and reads those of our workers and of the server (decision 22).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { defineUpdate } from "@temporalio/workflow";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { ProcessHandle } from "../../../src/client/handle.js";
import {
  AbandonedError,
  FinishedError,
  InputMismatchError,
  InvalidInputError,
  NotAcceptedError,
  TerminatedError,
  UnexpectedFailureError,
  UnprovenAnswerError,
} from "../../../src/errors/index.js";
import { dataConverter, workerConverters } from "../../../src/temporal/codec/data-converter.js";
import { ofFile } from "../../harness/of-file.js";
import { clientIn, freshRing, quietTemporal, testBundle } from "../support.js";

const { CommandType } = proto.temporal.api.enums.v1;
const ring = freshRing();
const ours = workerConverters({ ring, writeRing: undefined }, []).workflows;
/** Its task queue too. */
type Whose = "ours" | "strangers";
const env = ofFile(quietTemporal);
let workers: Worker[];
let running: Promise<void[]>;
let client: Client;
let stranger: Client;

beforeAll(async () => {
  stranger = env.client;
  client = clientIn(env, dataConverter(ring, undefined, true));
  const shared = { connection: env.nativeConnection, namespace: env.namespace };
  // Strangers have not our converter of failures.
  const workflowsPath = fileURLToPath(new URL("stranger.workflows.ts", import.meta.url));
  const workflowBundle = await testBundle();
  workers = await Promise.all([
    Worker.create({ ...shared, taskQueue: "ours", dataConverter: ours, workflowBundle }),
    Worker.create({ ...shared, taskQueue: "strangers", workflowsPath }),
  ]);
  running = Promise.all(workers.map((worker) => worker.run()));
}, 120_000);
afterAll(async () => {
  for (const worker of workers ?? []) worker.shutdown();
  await running;
});

class TestHandle extends ProcessHandle<unknown> {
  change(): Promise<unknown> {
    return this.update(defineUpdate("change"), [], randomUUID());
  }
}

/** A process whose workflow tasks this worker answers. */
async function answeredBy(whose: Whose, workflow: string, args: unknown[]): Promise<TestHandle> {
  const handle = new TestHandle(client, "sendMessage", randomUUID());
  const starting = whose === "ours" ? client : stranger;
  const { workflowId } = handle;
  await starting.workflow.start(workflow, { taskQueue: whose, workflowId, args });
  return handle;
}

const fields = [{ path: "to", problem: "is forged" }];
const abandoned = { attention: "send-1", effect: "none", by: "somebody" };
const failures: [string, unknown[], new (...args: never[]) => Error][] = [
  ["InvalidInput", [{ fields }], InvalidInputError],
  ["InputMismatch", [{ problem: "forged" }], InputMismatchError],
  ["InputMismatch", [], InputMismatchError],
  ["NotAccepted", [{ provider: "messaging-gateway", fields }], NotAcceptedError],
  ["Abandoned", [abandoned], AbandonedError],
  ["Finished", [], FinishedError],
];

test.each(failures)(
  "%s with details %j is believed only from our workers",
  async (type, details, Typed) => {
    const both = async (handle: TestHandle) => {
      const refused = await handle.change().catch((error: unknown) => error);
      const failed = await handle.result().catch((error: unknown) => error);
      return [refused, failed];
    };
    for (const error of await both(await answeredBy("ours", "fail", [type, details])))
      expect(error).toBeInstanceOf(Typed);
    for (const error of await both(await answeredBy("strangers", "fail", [type, details]))) {
      expect(error).toBeInstanceOf(UnprovenAnswerError);
      expect((error as Error).message).toContain("codec.plaintext");
    }
  },
  60_000,
);

test.each(["Terminated", "AnyOther"])(
  "a stranger's failure of the kind %s is not believed either, and holds up no client",
  async (type) => {
    const handle = await answeredBy("strangers", "fail", [type, []]);
    await expect(handle.change()).rejects.toThrow(UnprovenAnswerError);
    await expect(handle.result()).rejects.toThrow(UnprovenAnswerError);
    const accepting = new TestHandle(stranger, "sendMessage", handle.id);
    const said = type === "Terminated" ? TerminatedError : UnexpectedFailureError;
    await expect(accepting.result()).rejects.toThrow(said);
  },
  60_000,
);

test("an end without a result is none of our processes'", async () => {
  const handle = new TestHandle(client, "sendMessage", randomUUID());
  const queue = `nobody but ${handle.id}`;
  await stranger.workflow.start("any", { taskQueue: queue, workflowId: handle.workflowId });
  const { workflowService } = env.connection;
  const place = { namespace: env.namespace, identity: "stranger", taskQueue: { name: queue } };
  const { taskToken } = await env.connection.withDeadline(Date.now() + 30_000, () =>
    workflowService.pollWorkflowTaskQueue(place),
  );
  const commands = [
    {
      commandType: CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
      completeWorkflowExecutionCommandAttributes: {},
    },
  ];
  await workflowService.respondWorkflowTaskCompleted({ ...place, taskToken, commands });
  await expect(handle.result()).rejects.toThrow(UnprovenAnswerError);
}, 60_000);

test("what only the server says stays readable: the end of an update's run, a termination, a timeout", async () => {
  await expect((await answeredBy("ours", "endMeanwhile", [])).change()).rejects.toMatchObject({
    cause: { type: "AcceptedUpdateCompletedWorkflow" },
  });
  const terminated = new TestHandle(client, "sendMessage", randomUUID());
  const started = { taskQueue: "nobody", workflowId: terminated.workflowId };
  await (await client.workflow.start("endMeanwhile", started)).terminate();
  await expect(terminated.result()).rejects.toThrow(TerminatedError);
  const late = new TestHandle(client, "sendMessage", randomUUID());
  const limit = { workflowExecutionTimeout: "1 s" } as const;
  await client.workflow.start("endMeanwhile", {
    ...started,
    ...limit,
    workflowId: late.workflowId,
  });
  await expect(late.result()).rejects.toMatchObject({ cause: { name: "TimeoutFailure" } });
}, 60_000);
