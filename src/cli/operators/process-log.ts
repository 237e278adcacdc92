// What all processes do, as `trustflow logs` prints it. It reads what Temporal keeps of them, so it needs no worker.
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isPassing } from "../../client/handle.js";
import { queryOf } from "../../client/list.js";
import type { ListFilter } from "../../client.js";
import { parseWorkflowId } from "../../contracts/registry.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";
import { grpcOf, status } from "../../temporal/grpc-status.js";
import { sealedStatusOf } from "../../temporal/visibility/memo.js";
import { statusIn } from "../../temporal/visibility/process-status.js";
import { someAtOnce } from "../../temporal/visibility/stuck.js";
import { withoutMemos } from "../../temporal/visibility/without-memos.js";
import { SeenEntries } from "../processes/seen-entries.js";

export interface LoggedEvent extends TimelineEntry {
  workflowId: string;
}

/** Between two looks at all processes. */
const LOOK_EVERY_MS = 2_000;

/** The visibility is a moment behind, so what ended before the last look is looked for again. */
const OVERLAP_MS = 60_000;

/** Each call of `next` gives what has happened since the one before, in the order of the times. */
export class ProcessLog {
  readonly #client: Client;
  readonly #query: string;
  readonly #since: Date;
  #endedAfter: Date;
  readonly #known = new Map<string, KnownProcess>();
  /** Not given out yet. A look that is cut off leaves some. */
  readonly #found: LoggedEvent[] = [];

  constructor(client: Client, filter: Omit<ListFilter, "reason" | "stuck">, since: Date) {
    this.#client = client;
    this.#query = queryOf(filter);
    this.#since = since;
    this.#endedAfter = since;
  }

  /** Looks every two seconds, also after an outage of Temporal; `sayAway` is told of each outage once. */
  async *follow(sayAway: (error: unknown) => void): AsyncGenerator<LoggedEvent[]> {
    for (let isAway = false; ; await delay(LOOK_EVERY_MS))
      try {
        yield await this.next();
        isAway = false;
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (!isAway) sayAway(error);
        isAway = true;
      }
  }

  async next(): Promise<LoggedEvent[]> {
    const begunAt = Date.now();
    const time = this.#endedAfter.toISOString();
    const query = `${this.#query} AND (ExecutionStatus = "Running" OR CloseTime >= "${time}")`;
    const listed = withoutMemos(this.#client).list({ query });
    const shown = new Set<string>();
    const look = async (info: WorkflowExecutionInfo) => {
      const { workflowId } = info;
      if (!parseWorkflowId(workflowId)) return;
      const hasNewerRun = shown.has(workflowId);
      shown.add(workflowId);
      const one = this.#known.get(workflowId) ?? new KnownProcess(this.#since);
      this.#known.set(workflowId, one);
      const entries = await one.newIn(this.#client, info, hasNewerRun);
      this.#found.push(...entries.map((entry) => ({ workflowId, ...entry })));
    };
    for await (const _ of someAtOnce(listed, look));
    for (const [workflowId, one] of this.#known)
      if (one.isGone(shown.has(workflowId), begunAt)) this.#known.delete(workflowId);
    this.#endedAfter = new Date(begunAt - OVERLAP_MS);
    return this.#found
      .splice(0)
      .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  }
}

/** A process as far as its events were given out. */
class KnownProcess {
  readonly #since: number;
  readonly #seen = new SeenEntries();
  readonly #runs = new Map<string, string>();
  #count = 0;
  #shownAt = 0;

  constructor(since: Date) {
    this.#since = since.getTime();
  }

  /** A page of a list may miss what changes its place meanwhile, so it is forgotten only after some time. */
  isGone(isShown: boolean, now: number): boolean {
    if (isShown) this.#shownAt = now;
    return now - this.#shownAt > 2 * OVERLAP_MS;
  }

  async newIn(
    client: Client,
    info: WorkflowExecutionInfo,
    hasNewerRun: boolean,
  ): Promise<TimelineEntry[]> {
    const { runId, startTime, closeTime } = info;
    const state = info.status.name;
    const digest = createHash("sha256").update(sealedStatusOf(info)).update(state).digest("base64");
    const before = this.#runs.get(runId);
    if (before === digest) return [];
    const shown = await statusIn(client, info).catch(unlessAway);
    // A look that was cut off may have read it meanwhile.
    if (this.#runs.get(runId) === digest) return [];
    this.#runs.set(runId, digest);
    const timeline = shown?.timeline ?? [];
    const isNew = startTime.getTime() >= this.#since;
    // A time of the sandbox's clock says nothing about ours.
    const isWanted = ({ at, clock }: TimelineEntry) =>
      before !== undefined || isNew || (clock === undefined && Date.parse(at) >= this.#since);
    const unseen = this.#seen.take(timeline);
    const count = (shown?.earlierEntries ?? 0) + timeline.length;
    const missing = count - this.#count - unseen.length;
    this.#count = Math.max(this.#count, count);
    return [
      ...(before === undefined && isNew ? [own(startTime, "Started")] : []),
      ...((before !== undefined || isNew) && missing > 0
        ? [own(new Date(), moreText(info, missing))]
        : []),
      ...unseen.filter(isWanted),
      ...(closeTime && !(hasNewerRun && state === "TERMINATED")
        ? [
            own(
              closeTime,
              `Ended: ${shown?.outcome ?? shown?.failure?.message ?? state.toLowerCase()}`,
            ),
          ]
        : []),
    ];
  }
}

/** A process that was deleted meanwhile, or whose end cannot be read, does not stop the others. */
function unlessAway(error: unknown): undefined {
  const { code } = grpcOf(error);
  if (typeof code === "number" && code !== status.notFound) throw error;
}

function moreText({ workflowId }: WorkflowExecutionInfo, missing: number): string {
  return `${missing} more events: trustflow status ${workflowId} --timeline`;
}

function own(at: Date, event: string): TimelineEntry {
  return { at: at.toISOString(), source: "process", event };
}
