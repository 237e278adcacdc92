// Waits for a change of a process without asking again and again: Temporal answers a long poll when the run has new events.
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { grpcOf, status } from "../grpc-status.js";
import type { HistoryEvent } from "./stuck.js";

const { EventType } = proto.temporal.api.enums.v1;

/** The events with which a status changes: the memo, the search attributes, a call that may fail, and each end of a run. */
const changes = new Set<unknown>([
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
]);

export class RunChanges {
  readonly #client: Client;
  readonly #execution: { workflowId: string; runId: string };
  #token: Uint8Array | undefined;

  constructor(client: Client, execution: { workflowId: string; runId: string }) {
    this.#client = client;
    this.#execution = execution;
  }

  get runId(): string {
    return this.#execution.runId;
  }

  /** Returns after an event beyond the first `known` that may have changed the status, or after `limitMs`. */
  async next(known: number, limitMs: number): Promise<void> {
    const end = Date.now() + limitMs;
    while (Date.now() < end) {
      const page = await this.#page(end);
      if (!page) return;
      this.#token = page.nextPageToken?.length ? page.nextPageToken : undefined;
      const isChange = ({ eventId, eventType }: HistoryEvent) =>
        Number(eventId) > known && changes.has(eventType);
      if (page.history?.events?.some(isChange)) return;
      // The run has ended.
      if (!this.#token) return;
    }
  }

  /** Undefined when the time is over. */
  async #page(end: number) {
    const { namespace } = this.#client.options;
    try {
      return await this.#client.withDeadline(end, () =>
        this.#client.workflowService.getWorkflowExecutionHistory({
          namespace,
          execution: this.#execution,
          waitNewEvent: true,
          skipArchival: true,
          ...(this.#token && { nextPageToken: this.#token }),
        }),
      );
    } catch (error) {
      if (grpcOf(error).code === status.deadlineExceeded) return undefined;
      throw error;
    }
  }
}
