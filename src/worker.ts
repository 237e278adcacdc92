// The composition root: configuration → providers → activities → workers for the task queues (docs/design.md §3, §12).
import { Runtime, Worker } from "@temporalio/worker";
import type { WorkerOptions } from "@temporalio/worker";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { Circuits } from "./activities/runtime/circuit-breaker.js";
import { activitiesByQueue } from "./activities/queues.js";
import type { DependenciesOf } from "./activities/queues.js";
import { createLookActivities } from "./activities/runtime/look.js";
import type { ProcessLooks } from "./activities/runtime/look.js";
import type { ActivityDependencies } from "./activities/runtime/provider-context.js";
import { createProcessActivities } from "./activities/runtime/process.js";
import { countCall } from "./activities/runtime/call-metrics.js";
import { activityTracing } from "./activities/runtime/tracing.js";
import { TokenMatcher } from "./activities/video-identification/token-matcher.js";
import { BatchItems } from "./batch/items/items.js";
import { ArchiveParts } from "./batch/items/parts.js";
import { callbackUrl, correlationOf } from "./callbacks/address.js";
import { required, requireSecrets, ringOf } from "./config/config.js";
import { allAccountsOf } from "./providers/accounts.js";
import type { ConfigWithAccounts, OnKeptCertificate } from "./providers/accounts.js";
import { buildId, providerTaskQueue, workflowTaskQueue } from "./contracts/shared/names.js";
import { providerNames } from "./providers/registry.js";
import { reloadAccounts } from "./providers/reload.js";
import type { KeyRing } from "./crypto/key-ring.js";
import { decisionRulesOf } from "./config/decision-rules.js";
import { documentStoreOf } from "./config/document-store.js";
import { environmentsOf, ownVersion } from "./config/environment.js";
import { Journal } from "./journal/journal.js";
import { SignedDecisions } from "./journal/signed-decisions.js";
import { UnaddressedTokens } from "./journal/unaddressed-tokens.js";
import { whileOwner } from "./journal/while-owner.js";
import type { Pool } from "./postgres/pool.js";
import { SoleHolder } from "./postgres/sole-holder.js";
import { payloadKeys, refusedPayloads } from "./config/payload-keys.js";
import { lookUpProofsOf } from "./config/look-up-proofs.js";
import { temporalProblem } from "./temporal/connection.js";
import { withPatientPolls, connectWorker } from "./temporal/worker-connection.js";
import { workflowInterceptors } from "./temporal/workflow-interceptors.js";
import { WorkerProblem, watchWorker } from "./temporal/worker-watch.js";
import { WorkflowWorker } from "./temporal/workflow-worker.js";
import { activityGuard } from "./temporal/codec/activity-guard.js";
import { workerConverters } from "./temporal/codec/data-converter.js";
import { WorkerSecrets } from "./temporal/codec/secrets.js";
import { inputDigest, sameInput } from "./crypto/json-digest.js";
import { ProcessLooksByClient } from "./temporal/visibility/process-look.js";

export interface RunningWorker {
  /** Resolves when all queues have been drained, rejects when one of them fails or does not end. */
  run: Promise<void>;
  shutdown(): void;
  /** False, or a sentence that says why, if the worker does not poll. */
  isPolling(): boolean | string;
  /** Rejects as soon as the worker is found to do no more work; it then shuts itself down. */
  problem: Promise<never>;
  /** Resolves with a sentence if Temporal cannot serve this worker; rejects while it does not answer. */
  temporalProblem(): Promise<string | undefined>;
}

/** How long a shutdown lets work go on. */
export type ShutdownTimes = Required<
  Pick<WorkerOptions, "shutdownGraceTime" | "shutdownForceTime">
>;

const shutdownTimes: ShutdownTimes = {
  /** Above the longest call to a provider, so that a shutdown lets it finish. */
  shutdownGraceTime: "45 seconds",
  /**
   * Below the 60 s after which the orchestrator kills, also with the two seconds before a worker begins to stop: what does not end, such as
   * a frozen worker, is given up.
   */
  shutdownForceTime: "55 seconds",
};
/**
 * A fixed number: with autoscaled pollers, those of the sticky queue can take every slot (docs/upstream.md). A small
 * one: after a restart it leaves Temporal more of the cores, so a status comes sooner, at the same rate of processes (docs/benchmarks.md).
 */
const WORKFLOW_POLLERS = 3;

/** Serves the workflows and every provider's activities, until `shutdown`. */
export async function startWorker(
  config: ConfigWithAccounts,
  pool: Pool,
  times: ShutdownTimes = shutdownTimes,
): Promise<RunningWorker> {
  const codecRing = ringOf(config, "codec");
  const activities = composeActivities(config, pool, codecRing);
  const { connection, namespace, options, close } = await connectWorker();
  const refused = refusedPayloads(config);
  const looks = new ProcessLooksByClient(connection, {
    namespace,
    ring: codecRing,
    refusePlaintext: refused.includes("plaintext"),
  });
  const shared: WorkerOptions = {
    taskQueue: workflowTaskQueue,
    connection,
    namespace,
    // Workers of two containers may have the same process id, and even the same host name.
    identity: `${process.pid}@${hostname()}-${randomUUID().slice(0, 8)}`,
    ...times,
    stickyQueueScheduleToStartTimeout: config.worker.stickySeconds * 1_000,
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: WORKFLOW_POLLERS },
    activityTaskPollerBehavior: { type: "autoscaling" },
    ...versionOf(config.worker),
  };
  const { workflows, all: workers } = await createWorkers(config, shared, activities, looks);
  const matcher = tokenMatcher(activities.video, pool, namespace);
  const matching = matcher.run();
  const reloading = reloadAccounts({
    accounts: config.accounts,
    check: requireSecrets,
    onChange: activities.renewAccounts,
    log: Runtime.instance().logger,
  });
  const shutdown = () => {
    matcher.close();
    workers.forEach((worker) => stop(worker));
  };
  const watch = watchForProblem(workflows, { connection, namespace }, shutdown);
  return {
    run: runAll(workers, async () => {
      reloading.close();
      matcher.close();
      await matching;
      await close();
    }).finally(() => watch.close()),
    shutdown,
    isPolling: () => workers.every((worker) => polls(worker)) && (watch.notSeen() ?? true),
    problem: watch.problem,
    temporalProblem: () => temporalProblem(connection, { namespace, options }),
  };
}

async function createWorkers(
  config: ConfigWithAccounts,
  shared: WorkerOptions,
  activities: ReturnType<typeof composeActivities>,
  looks: ProcessLooks,
): Promise<{ workflows: WorkflowWorker; all: Worker[] }> {
  const converters = workerConverters(payloadKeys(config), refusedPayloads(config));
  const calls: WorkerOptions = {
    ...shared,
    dataConverter: converters.activities,
    interceptors: { activity: [activityTracing, activityGuard] },
  };
  const providers = await withPatientPolls(() =>
    Promise.all(
      Object.entries(activities.byQueue).map(([queue, served]) =>
        Worker.create({
          ...calls,
          taskQueue: providerTaskQueue(queue),
          activities: { ...served },
          maxTaskQueueActivitiesPerSecond: config.worker.requestsPerSecond,
        }),
      ),
    ),
  );
  const [workflows, processWorker] = await Promise.all([
    WorkflowWorker.create({
      ...shared,
      ...workflowSource(),
      dataConverter: converters.workflows,
      maxCachedWorkflows: config.worker.cachedProcesses,
    }) as Promise<WorkflowWorker>,
    // Workflows and activities read payloads each in their own way, so those of one queue have a worker each too.
    Worker.create({ ...calls, activities: activities.processes(looks) }),
  ]);
  return { workflows, all: [workflows, processWorker, ...providers] };
}

/** `close` throws the problem that was found. */
function watchForProblem(
  workflows: WorkflowWorker,
  where: Pick<Parameters<typeof watchWorker>[1], "connection" | "namespace">,
  shutdown: () => void,
): { problem: Promise<never>; notSeen(): string | undefined; close(): void } {
  let found: WorkerProblem | undefined;
  let reject: (problem: WorkerProblem) => void = () => undefined;
  const problem = new Promise<never>((_, end) => (reject = end));
  // Not everyone waits for it.
  problem.catch(() => undefined);
  const watch = watchWorker(workflows, where, (text) => {
    found = new WorkerProblem(text);
    Runtime.instance().logger.error("The worker does no more work and ends", { problem: text });
    reject(found);
    shutdown();
  });
  return {
    problem,
    notSeen: () => watch.notSeen(),
    close() {
      watch.close();
      if (found) throw found;
    },
  };
}

/** A worker without workflows, or without activities, has no pollers for them. */
function polls(worker: Worker): boolean {
  const { workflowPollerState, activityPollerState } = worker.getStatus();
  const states = [workflowPollerState, activityPollerState];
  return (
    worker.getState() === "RUNNING" && states.includes("POLLING") && !states.includes("FAILED")
  );
}

async function runAll(workers: Worker[], close: () => Promise<void>) {
  const runs = workers.map((worker) =>
    worker.run().finally(() => {
      for (const other of workers) stop(other);
    }),
  );
  try {
    await Promise.all(runs);
  } finally {
    await Promise.allSettled(runs);
    await close();
  }
}

function stop(worker: Worker): void {
  if (worker.getState() === "RUNNING") worker.shutdown();
}

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The bundle that the build made; there is none beside the sources. */
function builtBundle(): string | undefined {
  const path = fileOf("workflow-bundle.js");
  return existsSync(path) ? path : undefined;
}

/** From the sources, the worker bundles itself. */
export function workflowSource(): Pick<
  WorkerOptions,
  "workflowBundle" | "workflowsPath" | "interceptors" | "bundlerOptions"
> {
  const codePath = builtBundle();
  if (codePath !== undefined) return { workflowBundle: { codePath } };
  const workflowsPath = fileOf("workflows/index.ts");
  return {
    workflowsPath,
    // As scripts/build.mjs.
    bundlerOptions: { preloadModules: [workflowsPath] },
    interceptors: {
      workflowModules: workflowInterceptors.map((name) => fileOf(`workflows/runtime/${name}.ts`)),
    },
  };
}

/** Open processes go on with the workers of the version that is current by then. */
function versionOf({ deployment }: ConfigWithAccounts["worker"]): Partial<WorkerOptions> {
  if (deployment === undefined) return { buildId };
  return {
    workerDeploymentOptions: {
      version: { deploymentName: deployment, buildId: releaseBuildId() },
      useWorkerVersioning: true,
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  };
}

/** The generation of the workflows, the version of the package, and which workflows they are. */
export function releaseBuildId(): string {
  const bundle = builtBundle();
  const code = bundle === undefined ? "sources" : readFileSync(bundle);
  const digest = createHash("sha256").update(code).digest("hex").slice(0, 12);
  return `${buildId}-${ownVersion()}-${digest}`;
}

const warnOfKept: OnKeptCertificate = (about) =>
  Runtime.instance().logger.warn(
    "The files of a client certificate are unusable; the previous certificate stays in use while it is valid",
    about,
  );

function dependenciesOf(config: ConfigWithAccounts, pool: Pool, codecRing: KeyRing) {
  const callbackRing = ringOf(config, "callback");
  const publicUrl = required(config.callbacks.publicUrl, "callbacks.publicUrl");
  const documents = documentStoreOf(config, (...given) => whileOwner(pool, ...given));
  const sealers = documents.dataKeys.sealers();
  const secrets = new WorkerSecrets(config.keys.secrets && ringOf(config, "secrets"));
  const signedDecisions = new SignedDecisions(
    pool,
    sealers,
    decisionRulesOf(config),
    (text, processWorker) => secrets.open(text, processWorker),
  );
  const journal = new Journal(pool, sealers, {
    leaseMs: config.journal.leaseSeconds * 1_000,
    lookUpSpacingMs: config.journal.lookUpSpacingSeconds * 1_000,
  });
  const deps: ActivityDependencies = {
    environmentOf: environmentsOf(config),
    journal,
    lookUpProofs: lookUpProofsOf(config, pool),
    digests: {
      of: (value) => inputDigest(codecRing, value),
      same: (value, stored) => sameInput(codecRing, value, stored),
    },
    documents,
    secrets,
    circuits: new Circuits({ probeMs: config.attention.probeSeconds * 1_000, failures: 5 }),
    callback: ({ rows, ...subject }) => ({
      url: callbackUrl(callbackRing, publicUrl, subject, { rows }),
      correlation: correlationOf(callbackRing, subject),
    }),
    patienceMs: config.attention.retrySeconds * 1_000,
    invisibleForMs: config.attention.invisibleSeconds * 1_000,
    unavailableForMs: config.attention.unavailableSeconds * 1_000,
  };
  return { deps, signedDecisions };
}

function composeActivities(config: ConfigWithAccounts, pool: Pool, codecRing: KeyRing) {
  const { deps, signedDecisions } = dependenciesOf(config, pool, codecRing);
  const accounts = allAccountsOf(config, warnOfKept);
  const of: DependenciesOf = (provider) => ({
    ...deps,
    accounts: accounts[provider],
    defaults: config,
  });
  return {
    renewAccounts(names: string[]) {
      const renewed = allAccountsOf(config, warnOfKept);
      for (const provider of providerNames)
        for (const name of names.filter((one) => renewed[provider][one]))
          Object.assign(accounts[provider], { [name]: renewed[provider][name] });
    },
    video: of("video-identification"),
    processes: (looks: ProcessLooks) => ({
      ...createProcessActivities(deps.journal, signedDecisions),
      ...createLookActivities(deps, looks),
    }),
    byQueue: activitiesByQueue(of, { items: new BatchItems(pool), parts: new ArchiveParts(pool) }),
  };
}

function tokenMatcher(
  { accounts, circuits, secrets }: ReturnType<typeof composeActivities>["video"],
  pool: Pool,
  namespace: string,
): TokenMatcher {
  const provider = "video-identification";
  const { metricMeter, logger } = Runtime.instance();
  // As the SDK labels the calls of an activity.
  const meter = metricMeter.withTags({
    namespace,
    taskQueue: providerTaskQueue(provider),
    activityType: "matchToken",
  });
  return new TokenMatcher({
    ...{ accounts, circuits, secrets, tokens: new UnaddressedTokens(pool) },
    holder: new SoleHolder(pool, `tokens of ${provider}`),
    onCall: (operation, result) => countCall(provider, operation, result, meter),
    warn: (message, details) => logger.warn(message, { ...details }),
  });
}
