// The update that is sent together with the start of its process, in one request to Temporal (`ExecuteMultiOperation`).
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from "@temporalio/client";
import type { WorkflowClient, WorkflowStartOptions } from "@temporalio/client";
import type { Workflow } from "@temporalio/common";
import type { Sent, Started, Writing } from "./handle.js";

/** A start as Temporal takes it. */
export type PreparedStart = ConstructorParameters<typeof WithStartWorkflowOperation<Workflow>>[1] &
  WorkflowStartOptions;

export interface FirstUpdate {
  /** The first update starts the process; one more is made after it, and alone. */
  start: NonNullable<Writing["start"]>;
  /** Undefined where no update was made, and where Temporal did not answer. */
  started(): Started | undefined;
}

/** `refuseAnother` throws where the process is there with another input. */
export function firstUpdate(
  client: WorkflowClient,
  processName: string,
  request: PreparedStart,
  refuseAnother: () => Promise<void>,
): FirstUpdate {
  let started: Started | undefined;
  const joined = async (): Promise<void> => {
    await refuseAnother();
    started ??= "joined";
  };

  const send = async ({ name, ...update }: Sent): Promise<{ answer: unknown } | undefined> => {
    const startWorkflowOperation = new WithStartWorkflowOperation(processName, request);
    let isOld = false;
    const hearing = withStartedHeard(client, (isNew) => {
      if (isNew) started = "created";
      isOld = !isNew;
    });
    try {
      const answer = await hearing.executeUpdateWithStart(name, {
        ...update,
        startWorkflowOperation,
      });
      // Where the same update was made before, Temporal gives its answer, whatever the input of this start.
      if (isOld) await joined();
      return { answer };
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await joined();
      return undefined;
    }
  };

  let sent: ReturnType<typeof send> | undefined;
  return {
    start(update) {
      if (sent) return sent.then(() => undefined);
      // What failed may be tried again.
      return (sent = send(update).catch((error: unknown) => {
        sent = undefined;
        throw error;
      }));
    },
    started: () => started,
  };
}

/** The SDK does not pass on whether Temporal has started the process, which the first answer says. */
function withStartedHeard(client: WorkflowClient, hear: (isNew: boolean) => void): WorkflowClient {
  const { workflowService } = client;
  let isHeard = false;
  const executeMultiOperation = async (
    request: Parameters<typeof workflowService.executeMultiOperation>[0],
  ) => {
    const answer = await workflowService.executeMultiOperation(request);
    if (!isHeard) hear(answer.responses[0]?.startWorkflow?.started !== false);
    isHeard = true;
    return answer;
  };
  const heard: unknown = Object.create(workflowService, {
    executeMultiOperation: { value: executeMultiOperation },
  });
  return Object.create(client, { workflowService: { value: heard } }) as WorkflowClient;
}
