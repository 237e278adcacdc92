// Finds in visibility which processes have ended, and which need a decision, for webhooks and the change feed (docs/webhooks.md).
// Visibility lags, and may show a process late: each look goes back over the last minutes, and now and again over the last hour.
import { createHash } from "node:crypto";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import proto from "@temporalio/proto";
import { parseWorkflowId, processes } from "../../contracts/registry.js";
import { attentionKinds, processFailures } from "../../contracts/shared/failures.js";
import { searchAttributes } from "../../contracts/shared/names.js";
import type { EndedData, ProcessEvent } from "../../contracts/process-event.js";
import type { Attention } from "../../contracts/shared/status.js";
import { unlessNotFound } from "../grpc-status.js";
import { statusOf } from "./memo.js";
import { isRunning, ofTypes } from "./query.js";
import { withoutMemos } from "./without-memos.js";

/** So far the clocks of Temporal and of this machine may differ, and visibility may lag, without an end being missed. */
export const OVERLAP_MS = 120_000;
const WIDE_MS = 3_600_000;
const WIDE_EVERY_MS = 300_000;
/** Of one page; a memo may have kilobytes. */
const PAGE_SIZE = 100;
const AT_ONCE = 8;

const hasEnded = 'ExecutionStatus IN ("Completed", "Failed", "Terminated", "TimedOut", "Canceled")';
const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT: CLOSE_EVENT } =
  proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Returns those of these ids that the caller has already. */
export type KnownAmong = (ids: string[]) => Promise<ReadonlySet<string>>;

type Draft = Pick<ProcessEvent, "id"> & { complete(): Promise<ProcessEvent | undefined> };
type About = Pick<EndedData, "process" | "id" | "runId">;

export interface EventLooksOptions {
  /** Where an earlier look has come to. */
  position: Date;
  /** No process that ended before is looked for. */
  floor: Date;
}

export class EventLooks {
  readonly #client: Client;
  readonly #floor: Date;
  #position: Date;
  #wideAt = -Infinity;
  /** Of the look that goes on. */
  #faults: unknown[] = [];

  constructor(client: Client, { position, floor }: EventLooksOptions) {
    this.#client = client;
    this.#position = position;
    this.#floor = floor;
  }

  /** Looks from here on find each process that the looks so far have not found. It moves at the end of a look. */
  get position(): Date {
    return this.#position;
  }

  /** Some events at a time, which are not known yet. Their order says nothing. A fault of one process is thrown after all others are told. */
  async *look(knownAmong: KnownAmong): AsyncGenerator<ProcessEvent[]> {
    this.#faults = [];
    const beganAt = performance.now();
    const isWide = beganAt - this.#wideAt >= WIDE_EVERY_MS;
    const back = this.#position.getTime() - (isWide ? WIDE_MS : OVERLAP_MS);
    const after = new Date(Math.max(back, this.#floor.getTime()));
    // The clocks of Temporal and of this machine may differ by less than the hour.
    let newest = Math.max(this.#position.getTime(), Date.now() - WIDE_MS);
    const ended = `${ofTypes(processes)} AND ${hasEnded} AND CloseTime >= "${after.toISOString()}"`;
    for await (const page of this.#pages(ended)) {
      // A clock of Temporal that is ahead must not hide what ends until then.
      for (const { closeTime } of page)
        newest = Math.max(newest, Math.min(closeTime?.getTime() ?? 0, Date.now()));
      yield* this.#fresh(await this.#each(page, async (info) => this.#ended(info)), knownAmong);
    }
    const asking = `${ofTypes(processes)} AND ${isRunning} AND ${searchAttributes.attention.name} IS NOT NULL`;
    for await (const page of this.#pages(asking))
      yield* this.#fresh(await this.#each(page, (info) => this.#asking(info)), knownAmong);
    if (this.#faults.length > 0) throw this.#faults[0];
    this.#position = new Date(newest);
    if (isWide) this.#wideAt = beganAt;
  }

  /** Some at a time, since the end of a process may have to be asked for. */
  async *#fresh(drafts: Draft[][], knownAmong: KnownAmong): AsyncGenerator<ProcessEvent[]> {
    const all = drafts.flat();
    const known = await knownAmong(all.map(({ id }) => id));
    const left = all.filter(({ id }) => !known.has(id));
    for (let at = 0; at < left.length; at += AT_ONCE) {
      const found = await this.#each(left.slice(at, at + AT_ONCE), (one) => one.complete());
      yield found.filter((event) => event !== undefined);
    }
  }

  /** What comes of those that have no fault. */
  async #each<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const ends = await Promise.allSettled(items.map(work));
    this.#faults.push(...ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])));
    return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  }

  async *#pages(query: string): AsyncGenerator<WorkflowExecutionInfo[]> {
    let page: WorkflowExecutionInfo[] = [];
    for await (const info of withoutMemos(this.#client).list({ query, pageSize: PAGE_SIZE })) {
      page.push(info);
      if (page.length < PAGE_SIZE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  #ended(info: WorkflowExecutionInfo): Draft[] {
    const about = aboutOf(info);
    if (!about) return [];
    const type = "process.ended";
    const id = this.#idOf(info, type, info.runId, "");
    const timestamp = (info.closeTime ?? info.startTime).toISOString();
    return [
      {
        id,
        complete: async () => {
          const end = await this.#endOf(info);
          return end && { id, type, timestamp, data: { ...about, ...end } };
        },
      },
    ];
  }

  async #asking(info: WorkflowExecutionInfo): Promise<Draft[]> {
    const about = aboutOf(info);
    const shown = info.typedSearchAttributes.get(searchAttributes.attention);
    const kind = attentionKinds.find((one) => one === shown);
    if (!about || !kind) return [];
    const type = "process.needsDecision";
    const status = await statusOf(this.#client, info);
    const open = status && [status.attention ?? [], status.moreAttentions ?? []].flat();
    // Without a readable memo the kind stands for the attention: a second one of the same kind is not told.
    const named = open?.filter(isNamed) ?? [{ id: undefined, kind, since: undefined }];
    return named.map(({ id: attention, kind, since }) => {
      const timestamp = new Date(since ?? Date.now()).toISOString();
      // After a repair the same attention is open in another run.
      const id = this.#idOf(info, type, since ?? info.runId, attention ?? kind);
      const data = { ...about, attention: { ...(attention && { id: attention }), kind } };
      return { id, complete: async () => ({ id, type, timestamp, data }) };
    });
  }

  /** Undefined where the process goes on in another run, or is gone. */
  async #endOf(info: WorkflowExecutionInfo): Promise<Omit<EndedData, keyof About> | undefined> {
    switch (info.status.name) {
      case "COMPLETED": {
        const outcome = info.typedSearchAttributes.get(searchAttributes.outcome);
        // Anyone who can reach Temporal can set the attribute (decision 22): what is no word is left out.
        return /^[A-Za-z]{1,100}$/.test(outcome ?? "") ? { outcome: outcome as string } : {};
      }
      case "FAILED":
        return this.#failure(info).catch(unlessNotFound);
      case "TERMINATED":
        return this.#termination(info).catch(unlessNotFound);
      default:
        return { failure: "Stopped" };
    }
  }

  async #failure({
    workflowId,
    runId,
  }: WorkflowExecutionInfo): Promise<Pick<EndedData, "failure">> {
    const { history } = await this.#client.workflowService.getWorkflowExecutionHistory({
      namespace: this.#client.options.namespace,
      execution: { workflowId, runId },
      historyEventFilterType: CLOSE_EVENT,
      skipArchival: true,
    });
    const { failure } = history?.events?.at(-1)?.workflowExecutionFailedEventAttributes ?? {};
    const type = failure?.applicationFailureInfo?.type;
    return { failure: processFailures.find((one) => one === type) ?? "Error" };
  }

  /** A reset terminates the run that it replaces. */
  async #termination({
    workflowId,
    runId,
  }: WorkflowExecutionInfo): Promise<Pick<EndedData, "failure"> | undefined> {
    const { workflowExtendedInfo } = await this.#client.workflowService.describeWorkflowExecution({
      namespace: this.#client.options.namespace,
      execution: { workflowId, runId },
    });
    return workflowExtendedInfo?.resetRunId ? undefined : { failure: "Terminated" };
  }

  #idOf({ workflowId }: WorkflowExecutionInfo, ...of: string[]): string {
    const named = [this.#client.options.namespace, workflowId, ...of];
    const digest = createHash("sha256").update(JSON.stringify(named)).digest("base64url");
    return `evt_${digest.slice(0, 32)}`;
  }
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** A memo that a stranger wrote may say anything there (decision 22). */
function isNamed(found: unknown): found is Attention {
  const { id, kind, since } = (found ?? {}) as Record<string, unknown>;
  return (
    typeof id === "string" &&
    /^[\w.:-]{1,100}$/.test(id) &&
    attentionKinds.some((one) => one === kind) &&
    typeof since === "string" &&
    RFC_3339.test(since) &&
    Date.parse(since) > 0
  );
}

function aboutOf({ workflowId, runId }: WorkflowExecutionInfo): About | undefined {
  const parsed = parseWorkflowId(workflowId);
  return parsed && { process: parsed.process, id: parsed.id, runId };
}
