// What an outage test reads besides results: the inbox's rows, and the signals that a history holds.
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { createPool } from "../../../src/postgres/pool.js";
import type { Pool } from "../../../src/postgres/pool.js";
import type { TestStack } from "../stack/stack.js";

export interface InboxRow {
  identifier: string;
  state: string;
}

export class InboxView {
  readonly #pool: Pool;

  constructor({ stack }: TestStack) {
    this.#pool = createPool(stack.databaseUrl, { max: 1 });
  }

  async rows(workflowId: string): Promise<InboxRow[]> {
    const { rows } = await this.#pool.query<InboxRow>(
      "select identifier, state from trustflow.callbacks where workflow_id = $1 order by id",
      [workflowId],
    );
    return rows;
  }

  /** As if the time of every claim were over: those of a killed relay last half a minute. */
  async endClaims(): Promise<void> {
    await this.#pool.query(
      "update trustflow.callbacks set claimed_until = clock_timestamp() where state = 'waiting' and claim is not null",
    );
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** The events of each signal in a process's history. */
export async function signalledEvents(
  { client }: TestStack,
  workflowId: string,
): Promise<ProviderEvent[][]> {
  const { events } = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const signals = (events ?? []).flatMap((event) => {
    const signal = event.workflowExecutionSignaledEventAttributes;
    return signal?.signalName === "providerEvents" ? [signal] : [];
  });
  const { loadedDataConverter } = client.temporal.options;
  const decoded = await Promise.all(
    signals.map(({ input }) => decodeArrayFromPayloads(loadedDataConverter, input?.payloads)),
  );
  return decoded.map(([given]) => given as ProviderEvent[]);
}

export async function historyLength({ client }: TestStack, workflowId: string): Promise<number> {
  const { events } = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return events?.length ?? 0;
}
