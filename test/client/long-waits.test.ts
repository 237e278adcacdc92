// A wait that lasts for months makes many requests; the SDK keeps each until the signal of its caller is gone. The connection is the test's.
import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { Client } from "@temporalio/client";
import type { CallContext, ConnectionLike } from "@temporalio/client";
import proto from "@temporalio/proto";
import { expect, test } from "vitest";
import { ProcessHandle } from "../../src/client/handle.js";

const {
  GetWorkflowExecutionHistoryResponse: History,
  DescribeWorkflowExecutionResponse: Described,
} = proto.temporal.api.workflowservice.v1;
const REQUESTS = 60;

const described = Described.fromObject({
  workflowExecutionInfo: {
    ...{
      execution: { workflowId: "sendPostal/order-7", runId: "r" },
      type: { name: "sendPostal" },
    },
    ...{ status: 1, historyLength: 4, startTime: { seconds: 1 }, executionTime: { seconds: 1 } },
  },
});

/** A client whose polls are answered at once, so often; `asked` resolves at the first one that is not. */
function polling(page: object) {
  const context = new AsyncLocalStorage<CallContext>();
  const withIn = (more: CallContext, call: () => Promise<unknown>) =>
    context.run({ ...context.getStore(), ...more }, call);
  const signals: AbortSignal[] = [];
  let last: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    last = resolve;
  });
  // As the SDK does for each request.
  const request = () => {
    const { abortSignal } = context.getStore() ?? {};
    abortSignal?.addEventListener("abort", () => undefined);
    if (abortSignal) signals.push(abortSignal);
  };
  const workflowService = {
    describeWorkflowExecution: async () => {
      request();
      return described;
    },
    getWorkflowExecutionHistory: async () => {
      request();
      if (signals.length < REQUESTS) return History.fromObject(page);
      last();
      return new Promise(() => undefined);
    },
  };
  const connection = {
    ...{ callContextStorage: context, workflowService, plugins: [] },
    withAbortSignal: (abortSignal: AbortSignal, call: () => Promise<unknown>) =>
      withIn({ abortSignal }, call),
    withDeadline: (deadline: number, call: () => Promise<unknown>) => withIn({ deadline }, call),
  };
  const client = new Client({ connection: connection as unknown as ConnectionLike });
  const kept = () => signals.map((signal) => getEventListeners(signal, "abort").length);
  return { handle: new ProcessHandle(client, "sendPostal", "order-7"), asked, kept };
}

const nextPageToken = Buffer.from("t");
const change = { eventId: 5, eventType: 10 };

test.each<
  [string, object, (handle: ProcessHandle<unknown>, signal: AbortSignal) => Promise<unknown>]
>([
  [
    "result",
    { history: { events: [] }, nextPageToken },
    (handle, signal) => handle.result({ signal }),
  ],
  [
    "watch",
    { history: { events: [change] }, nextPageToken },
    async (handle, signal) => {
      for await (const status of handle.watch({ signal })) expect(status.phase).toBe("submitting");
    },
  ],
])("a long %s keeps none of the requests that were answered", async (_, page, wait) => {
  const { handle, asked, kept } = polling(page);
  const end = new AbortController();
  const waiting = wait(handle, end.signal);
  await Promise.race([asked, waiting]);
  expect(kept()).toHaveLength(REQUESTS);
  // One look of a watch makes a few requests.
  expect(Math.max(...kept())).toBeLessThan(5);
  end.abort("enough");
  await expect(waiting).rejects.toBe("enough");
});
