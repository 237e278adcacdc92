// Stands where the SDK's native core stands: takes tasks from the simulated server, and makes the activations of the SDK's own `Worker` from
// histories. A worker that ends, or whose cache is full, loses its runs; another builds them again by replay.
import type { coresdk as sdk } from "@temporalio/proto";
import { after } from "./after.js";
import { CachedRun, Nondeterminism, queryJob } from "./cached-run.js";
import type { Sequence } from "./cached-run.js";
import { Channel } from "./channel.js";
import { api, coresdk, idOf, msOf, timeOf } from "./history.js";
import type { HistoryEvent, Payload } from "./history.js";
import type { Query, Run, StartedTask } from "./run.js";
import type { Poller, TemporalServer } from "./server.js";

type Job = sdk.workflow_activation.IWorkflowActivationJob;
type Completion = sdk.workflow_completion.IWorkflowActivationCompletion;

const { WorkflowTaskFailedCause: Cause } = api.api.enums.v1;
const { WorkflowActivation, RemoveFromCache } = coresdk.workflow_activation;
const { EvictionReason } = RemoveFromCache;
const { ActivityCancelReason } = coresdk.activity_task;

/** The core sends a heartbeat at most this often, as a share of its limit. */
const HEARTBEAT_SHARE = 0.8;
/** As the core names a query that came without a task. */
const ALONE = "legacy_query";
/** After the limit of an attempt the core tells it so. */
const LATE_MS = 5_000;

/** What the core needs of the worker's options. */
export interface CoreOptions {
  identity: string;
  taskQueue: string;
  maxCachedWorkflows: number;
  shutdownGraceTimeMs: number;
  activities: ReadonlyMap<string, unknown>;
}

/** What goes wrong between the server and its workers, asked at each occasion. */
export interface WorkerFaults {
  /**
   * Whether a workflow task gets lost: on its way to the worker, its completion on the way back, or the answer to that. The worker forgets
   * the run in the latter two.
   */
  losesTask?: (() => "task" | "completion" | "answer" | undefined) | undefined;
  losesHeartbeats?: boolean;
  /** Runs for which there is place; undefined: as the worker is configured. */
  cachedRuns?: number | undefined;
}

export interface CoreHooks {
  faults?: WorkerFaults;
  shutdownError(): Error;
  /** Runs something as the server's own work. */
  asServer<T>(work: () => T): T;
  onNondeterminism(run: Run, problem: string): void;
}

interface Attempt {
  token: string;
  heartbeatMs: number | undefined;
  /** The newest that it told; a failure brings them to the server too. */
  details: Payload[] | undefined;
  lastBeat: number;
  isBeatDue: boolean;
  late: { clear(): void } | undefined;
}

export class SimulatedCore implements Poller {
  readonly type = "worker" as const;
  readonly identity: string;
  readonly taskQueue: string;
  readonly takesActivities: boolean;
  readonly takesWorkflows: boolean;
  readonly #server: TemporalServer;
  readonly #options: CoreOptions;
  readonly #hooks: CoreHooks;
  readonly #activations = new Channel<Buffer>();
  readonly #activityTasks = new Channel<Buffer>();
  readonly #incoming = new Channel<() => Promise<void>>();
  /** Least recently used first. */
  readonly #cache = new Map<string, CachedRun>();
  readonly #inProgress = new Map<string, Promise<void>>();
  readonly #answers = new Map<string, (completion: Completion) => void>();
  readonly #attempts = new Map<string, Attempt>();
  #isEnding = false;

  constructor(
    server: TemporalServer,
    options: CoreOptions,
    hooks: CoreHooks & { takesWorkflows: boolean },
  ) {
    this.#server = server;
    this.#options = options;
    this.#hooks = hooks;
    this.identity = options.identity;
    this.taskQueue = options.taskQueue;
    this.takesActivities = options.activities.size > 0;
    this.takesWorkflows = hooks.takesWorkflows;
    void this.#takeIncoming();
    hooks.asServer(() => server.poll(this));
  }

  get isAtWork(): boolean {
    return this.#inProgress.size > 0 || this.#attempts.size > 0;
  }

  /** Runs in the worker's own program, whoever hands the work in. */
  async #takeIncoming(): Promise<void> {
    for (;;) {
      const work = await this.#incoming.take();
      void work();
    }
  }

  #call<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => after(1, () => resolve(this.#hooks.asServer(work))));
  }

  // What the server hands over

  takeTask(task: StartedTask): void {
    const lost = this.#hooks.faults?.losesTask?.();
    if (lost === "task") return;
    this.#incoming.put(() => this.#oneByOne(task.run, () => this.#work(task, lost)));
  }

  /** With the events that the run has by now, also those that no task has taken. */
  takeQuery(run: Run, query: Query): void {
    const events = [...run.events];
    this.#incoming.put(() => this.#oneByOne(run, () => this.#ask(run, events, query)));
  }

  takeActivity(task: sdk.activity_task.IActivityTask): void {
    this.#incoming.put(async () => {
      const token = Buffer.from(task.taskToken!).toString();
      const limit = msOf(task.start!.startToCloseTimeout);
      const late =
        limit === undefined
          ? undefined
          : after(limit + LATE_MS, () => this.#cancel(token, ActivityCancelReason.TIMED_OUT));
      this.#attempts.set(token, {
        token,
        heartbeatMs: msOf(task.start!.heartbeatTimeout),
        details: undefined,
        lastBeat: Number.NEGATIVE_INFINITY,
        isBeatDue: false,
        late,
      });
      this.#putActivityTask(task);
    });
  }

  async #oneByOne(run: Run, work: () => Promise<void>): Promise<void> {
    const before = this.#inProgress.get(run.runId) ?? Promise.resolve();
    const own = before.then(work);
    this.#inProgress.set(run.runId, own);
    await own;
    if (this.#inProgress.get(run.runId) === own) this.#inProgress.delete(run.runId);
    this.#endWhenIdle();
  }

  // Workflow tasks

  async #work(task: StartedTask, lost?: "completion" | "answer"): Promise<void> {
    const { run, events, token } = task;
    try {
      const { cached, sequence } = await this.#caughtUp(task);
      if (!sequence) return;
      const told = await this.#tell(cached, sequence, sequence.jobs);
      const flags = [...cached.flagsAhead.splice(0), ...told];
      const answers = await this.#askAll(cached, sequence, task.queries);
      if (lost === "completion") return await this.#evict(cached, EvictionReason.TASK_NOT_FOUND);
      const { commands } = cached;
      const written = await this.#call(() =>
        run.completeTask(token, this.identity, { commands, langUsedFlags: flags, answers }),
      );
      if (written === "lost" || lost)
        return await this.#evict(cached, EvictionReason.TASK_NOT_FOUND);
      if (written === "unhandled")
        return await this.#evict(cached, EvictionReason.UNHANDLED_COMMAND);
      if (written.length === 0) cached.commands = [];
      else cached.bind([...events, ...written], sequence.end);
      if (!run.isOpen) await this.#evict(cached, EvictionReason.WORKFLOW_EXECUTION_ENDING);
    } catch (error) {
      await this.#failTask(run, token, error);
    }
  }

  /** The run as it was before the task, and what the task tells it. */
  async #caughtUp(
    task: StartedTask,
  ): Promise<{ cached: CachedRun; sequence: Sequence | undefined }> {
    const { run, events, previousStartedEventId } = task;
    const cached = await this.#cachedAt(run, previousStartedEventId);
    const { isAhead } = cached;
    const sequence = await this.#catchUp(cached, events, task);
    // The SDK would go on, and what comes before what would differ in a replay (decision 15). Here the time alone differs.
    if (!isAhead || !sequence?.jobs.length) return { cached, sequence };
    await this.#evict(cached, EvictionReason.CACHE_MISS);
    return this.#caughtUp(task);
  }

  async #failTask(run: Run, token: string, error: unknown): Promise<void> {
    const isOurs = error instanceof LangFailure;
    if (!isOurs && !(error instanceof Nondeterminism)) throw error;
    if (!isOurs) this.#hooks.onNondeterminism(run, error.message);
    const cause = isOurs
      ? Cause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
      : Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR;
    const failure = isOurs ? error.failure : { message: error.message };
    await this.#call(() => run.failTask(token, cause, failure));
    const cached = this.#cache.get(run.runId);
    if (cached)
      await this.#evict(cached, isOurs ? EvictionReason.LANG_FAIL : EvictionReason.NONDETERMINISM);
  }

  /** Tells the workflow all tasks of the past. Answers the one that is in progress. */
  async #catchUp(
    cached: CachedRun,
    events: HistoryEvent[],
    task?: StartedTask,
  ): Promise<Sequence | undefined> {
    for (;;) {
      const sequence = cached.sequence(events, task?.updates ?? []);
      if (!sequence || !sequence.isReplay) return sequence;
      for (const flag of events[sequence.end + 1]!.workflowTaskCompletedEventAttributes?.sdkMetadata
        ?.langUsedFlags ?? [])
        cached.langFlags.add(flag);
      await this.#tell(cached, sequence, sequence.jobs);
      cached.bind(events, sequence.end);
    }
  }

  /** Activates the workflow until it has nothing more to be told in this task. Answers the flags that it used. */
  async #tell(cached: CachedRun, sequence: Sequence, jobs: Job[]): Promise<number[]> {
    const flags = new Set<number>();
    for (let next = jobs; next.length > 0;) {
      const { commands, usedInternalFlags } = await this.#activate(cached, sequence, next);
      for (const flag of usedInternalFlags ?? []) if (!cached.langFlags.has(flag)) flags.add(flag);
      next = cached.take(commands ?? []);
    }
    for (const flag of flags) cached.langFlags.add(flag);
    return [...flags];
  }

  async #askAll(cached: CachedRun, sequence: Sequence, queries: Query[]) {
    if (queries.length === 0) return [];
    const { commands } = await this.#activate(
      cached,
      sequence,
      queries.map((query) => queryJob(query)),
    );
    return (commands ?? []).flatMap(({ respondToQuery }) =>
      respondToQuery ? [respondToQuery] : [],
    );
  }

  /**
   * A question without a task. What no task has taken yet is told as the SDK tells it: in the time of the task before, or of one that has
   * been started elsewhere (decision 15).
   */
  async #ask(run: Run, events: HistoryEvent[], query: Query): Promise<void> {
    try {
      const cached = await this.#cachedAt(run, run.previousStartedEventId);
      const begun = await this.#catchUp(cached, events);
      const started = events[cached.startedEventId - 1];
      if (!started) {
        await this.#evict(cached, EvictionReason.CACHE_MISS);
        return this.#hooks.asServer(() => run.query(query));
      }
      const ahead = run.isOpen ? (begun ?? cached.ahead(events, started)) : undefined;
      if (ahead) {
        cached.flagsAhead.push(...(await this.#tell(cached, ahead, ahead.jobs)));
        cached.next = ahead.end + 1;
        cached.isAhead = true;
      }
      const shown = ahead ?? { jobs: [], started, isReplay: true, end: 0 };
      const [answer] = await this.#askAll(cached, shown, [{ ...query, id: ALONE }]);
      await this.#call(() =>
        query.answer(
          answer?.failed
            ? { failure: answer.failed }
            : { result: answer?.succeeded?.response ?? undefined },
        ),
      );
      if (!run.isOpen) await this.#evict(cached, EvictionReason.WORKFLOW_EXECUTION_ENDING);
    } catch (error) {
      if (!(error instanceof LangFailure || error instanceof Nondeterminism)) throw error;
      if (error instanceof Nondeterminism) this.#hooks.onNondeterminism(run, error.message);
      await this.#call(() => query.answer({ failure: { message: error.message } }));
      const cached = this.#cache.get(run.runId);
      if (cached) await this.#evict(cached, EvictionReason.LANG_FAIL);
    }
  }

  async #cachedAt(run: Run, startedEventId: number): Promise<CachedRun> {
    const known = this.#cache.get(run.runId);
    if (known && known.startedEventId !== startedEventId)
      await this.#evict(known, EvictionReason.CACHE_MISS);
    const cached =
      this.#cache.get(run.runId) ?? new CachedRun({ runId: run.runId, workflowId: run.id });
    this.#cache.delete(run.runId);
    this.#cache.set(run.runId, cached);
    const most = this.#hooks.faults?.cachedRuns ?? this.#options.maxCachedWorkflows;
    for (const [runId, other] of this.#cache) {
      if (this.#cache.size <= Math.max(1, most)) break;
      if (!this.#inProgress.has(runId)) await this.#evict(other, EvictionReason.CACHE_FULL);
    }
    return cached;
  }

  async #evict(cached: CachedRun, reason: number): Promise<void> {
    this.#cache.delete(cached.runId);
    if (cached.next === 0 && cached.commands.length === 0 && reason === EvictionReason.CACHE_MISS)
      return;
    await this.#send({
      runId: cached.runId,
      timestamp: timeOf(Date.now()),
      jobs: [{ removeFromCache: { message: "", reason } }],
    });
  }

  async #activate(
    cached: CachedRun,
    { started, isReplay, historyLength = idOf(started) }: Sequence,
    jobs: Job[],
  ): Promise<sdk.workflow_completion.ISuccess> {
    const { successful, failed } = await this.#send({
      ...{
        runId: cached.runId,
        timestamp: started.eventTime!,
        isReplaying: isReplay,
        historyLength,
        jobs,
      },
      historySizeBytes:
        started.workflowTaskStartedEventAttributes!.historySizeBytes ?? (0 as never),
      availableInternalFlags: [...cached.langFlags],
      lastSdkVersion: "1.24.0",
    });
    if (failed) throw new LangFailure(failed);
    return successful ?? {};
  }

  #send(activation: sdk.workflow_activation.IWorkflowActivation): Promise<Completion> {
    return new Promise((resolve) => {
      this.#answers.set(activation.runId!, resolve);
      this.#activations.put(Buffer.from(WorkflowActivation.encode(activation).finish()));
    });
  }

  // What the SDK's worker calls

  pollWorkflowActivation = (): Promise<Buffer> => this.#activations.take();
  pollActivityTask = (): Promise<Buffer> => this.#activityTasks.take();
  pollNexusTask = (): Promise<Buffer> => Promise.reject(this.#hooks.shutdownError());

  completeWorkflowActivation = async (bytes: Buffer): Promise<void> => {
    const completion =
      coresdk.workflow_completion.WorkflowActivationCompletion.decodeDelimited(bytes);
    const resolve = this.#answers.get(completion.runId);
    this.#answers.delete(completion.runId);
    resolve?.(completion);
  };

  completeActivityTask = async (bytes: Buffer): Promise<void> => {
    const { taskToken, result } = coresdk.ActivityTaskCompletion.decodeDelimited(bytes);
    const token = Buffer.from(taskToken).toString();
    const attempt = this.#attempts.get(token);
    attempt?.late?.clear();
    this.#attempts.delete(token);
    await this.#call(() =>
      this.#server.activityOf(token)?.complete(token, result!, attempt?.details),
    );
    this.#endWhenIdle();
  };

  recordActivityHeartbeat = (bytes: Buffer): void => {
    const { taskToken, details } = coresdk.ActivityHeartbeat.decodeDelimited(bytes);
    const attempt = this.#attempts.get(Buffer.from(taskToken).toString());
    if (!attempt) return;
    attempt.details = details;
    if (attempt.isBeatDue) return;
    const pause = attempt.lastBeat + HEARTBEAT_SHARE * (attempt.heartbeatMs ?? 30_000) - Date.now();
    attempt.isBeatDue = true;
    after(Math.max(1, pause), () => {
      if (!this.#attempts.has(attempt.token)) return;
      attempt.isBeatDue = false;
      if (this.#hooks.faults?.losesHeartbeats) return;
      attempt.lastBeat = Date.now();
      const activity = this.#hooks.asServer(() => this.#server.activityOf(attempt.token));
      if (!activity) this.#cancel(attempt.token, ActivityCancelReason.NOT_FOUND);
      else if (this.#hooks.asServer(() => activity.beat(attempt.details!)))
        this.#cancel(attempt.token, ActivityCancelReason.CANCELLED);
    });
  };

  #cancel(token: string, reason: number): void {
    if (this.#attempts.has(token))
      this.#putActivityTask({ taskToken: Buffer.from(token), cancel: { reason, details: {} } });
  }

  #putActivityTask(task: sdk.activity_task.IActivityTask): void {
    this.#activityTasks.put(Buffer.from(coresdk.activity_task.ActivityTask.encode(task).finish()));
  }

  // Its end

  initiateShutdown = (): void => {
    this.#isEnding = true;
    this.#hooks.asServer(() => this.#server.leave(this, true));
    after(this.#options.shutdownGraceTimeMs, () => {
      for (const token of this.#attempts.keys())
        this.#cancel(token, ActivityCancelReason.WORKER_SHUTDOWN);
    });
    this.#endWhenIdle();
  };

  #endWhenIdle(): void {
    if (!this.#isEnding) return;
    if (this.#attempts.size === 0) this.#activityTasks.end(this.#hooks.shutdownError());
    if (this.#inProgress.size === 0) this.#activations.end(this.#hooks.shutdownError());
  }

  async finalizeShutdown(): Promise<void> {}
  flushCoreLogs(): void {}
  replaceClient(): void {}
}

/** The SDK's worker failed the activation. */
class LangFailure extends Error {
  readonly failure: sdk.workflow_completion.IFailure["failure"];

  constructor({ failure }: sdk.workflow_completion.IFailure) {
    super(failure?.message ?? "the workflow task failed");
    this.failure = failure;
  }
}
