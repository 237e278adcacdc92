// One process as another one sees it, through a client of the worker's own (docs/decisions/0031). The client reads the answers as every
// client does: with `codec.plaintext = "refuse"` it takes encrypted ones alone, and an answer of a stranger's worker is none.
import { Client, WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";
import type { ConnectionLike, WorkflowExecutionStatusName } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { FailureDetails } from "../../contracts/shared/failures.js";
import type { LookedAt, LookedAtFailure } from "../../contracts/shared/process-look.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { ClientCodec } from "../codec/client-codec.js";
import { EncryptionCodec } from "../codec/codec.js";
import { dataConverter } from "../codec/data-converter.js";
import { firstInput } from "./first-input.js";
import { describe, queryStatus, statusIn } from "./process-status.js";
import { isOpenState } from "./query.js";

/** Below the time limit of the activity's heartbeat and of its attempt. */
const ANSWER_LIMIT_MS = 30_000;

export class ProcessLooksByClient {
  readonly #client: Client;
  readonly #codec: EncryptionCodec | ClientCodec;

  constructor(connection: ConnectionLike, { namespace, ring, refusePlaintext }: LookOptions) {
    this.#client = new Client({
      connection,
      namespace,
      dataConverter: dataConverter(ring, undefined, refusePlaintext),
    });
    const codec = new EncryptionCodec(ring);
    this.#codec = refusePlaintext ? new ClientCodec(codec) : codec;
  }

  look(workflowId: string): Promise<LookedAt> {
    return this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, async () => {
      const described = await this.#describe(workflowId);
      if (!described) return { run: "missing" };
      const { runId } = described;
      const state = described.status.name;
      const startedAt = described.startTime.toISOString();
      if (isOpenState(state)) {
        const shown = await statusIn(this.#client, described);
        const status = shown ?? (await queryStatus(this.#client, workflowId, { runId }));
        if (status === undefined) throw new Error(`${workflowId} answered nothing`);
        return { run: "open", startedAt, status };
      }
      if (state === "COMPLETED" || state === "FAILED")
        return { startedAt, ...(await this.#end(workflowId, runId)) };
      return { run: "failed", startedAt, failure: stopped(state) };
    });
  }

  isOpen(workflowId: string): Promise<boolean> {
    return this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, async () => {
      const described = await this.#describe(workflowId);
      return described !== undefined && isOpenState(described.status.name);
    });
  }

  firstInput(workflowId: string): Promise<unknown> {
    return this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, () =>
      firstInput(this.#client, this.#codec, workflowId),
    );
  }

  async #describe(workflowId: string) {
    try {
      return await describe(this.#client, workflowId);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** Asks for this run alone, which has ended: the client does not follow a chain of runs. */
  async #end(workflowId: string, runId: string) {
    try {
      const handle = this.#client.workflow.getHandle(workflowId, runId, { followRuns: false });
      const result = (await handle.result()) as Record<string, unknown> | undefined;
      if (typeof result !== "object") throw new Error(`${workflowId} has no result`);
      return { run: "completed" as const, result };
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { run: "failed" as const, failure: failureOf(error.cause) };
    }
  }
}

interface LookOptions {
  namespace: string;
  ring: KeyRing;
  refusePlaintext: boolean;
}

function failureOf(cause: unknown): LookedAtFailure {
  if (!(cause instanceof ApplicationFailure)) return stopped("FAILED");
  const { type, message } = cause;
  const [detail = {}] = (cause.details ?? []) as Partial<
    FailureDetails["Abandoned"] & FailureDetails["NotAccepted"]
  >[];
  const { fields = [], provider, code, effect } = detail;
  return {
    type: type ?? "Error",
    message,
    fields,
    ...(provider !== undefined && { provider }),
    ...(code !== undefined && { code }),
    ...(effect !== undefined && { effect }),
  };
}

/** Nobody but Temporal ended it. */
function stopped(state: WorkflowExecutionStatusName): LookedAtFailure {
  const word = state.toLowerCase().replaceAll("_", " ");
  const type = state === "TERMINATED" ? "Terminated" : "Stopped";
  return { type, message: `Temporal shows it as ${word}`, fields: [] };
}
