// Gives the open processes to the workers of a new release, some first. A release at which processes get stuck is taken back
// (docs/operations/upgrade.md). The state stands in Temporal alone, so the command may be run again wherever it was cut off.
import { setTimeout as delay } from "node:timers/promises";
import { grpcOf, status } from "../temporal/grpc-status.js";
import { msOf } from "../temporal/visibility/task-queue.js";
import { candidatesQuery, filterStuck, listExecutions } from "../temporal/visibility/stuck.js";
import type { Namespace } from "../temporal/visibility/stuck.js";

export interface Release {
  deploymentName: string;
  buildId: string;
}

export interface Ramping {
  /** So many of a hundred processes go to the new release first. */
  percentage: number;
  /** So long it is watched at first, and again after it has all of them. */
  watchMs: number;
  /** When a run that was cut off began; now where there was none. */
  since?: number | undefined;
  say(line: string): void;
}

/**
 * `stuck`: the ids of the processes that got stuck. The state `stuck`: all stay where they are, because the release begins a generation.
 */
export type Ramped = { state: "current" } | { state: "takenBack" | "stuck"; stuck: string[] };

const LOOK_MS = 5_000;

/** Whether a worker of the release has polled. */
export async function isKnown(
  { connection, namespace }: Namespace,
  { deploymentName, buildId }: Release,
): Promise<boolean> {
  const known = await connection.workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch(unlessUnknown);
  const versions = known?.workerDeploymentInfo?.versionSummaries ?? [];
  return versions.some((version) => version.deploymentVersion?.buildId === buildId);
}

/** Old workers cannot go on with what those of another generation have done (docs/testing.md, "Generations"). */
function mayGoBack(current: string | null | undefined, buildId: string): boolean {
  const generationOf = (id: string) => /^trustflow-\d+/.exec(id)?.[0];
  return !current || generationOf(current) === generationOf(buildId);
}

/** What a run that was cut off has left behind. */
export interface CutOff {
  state: "takenBack" | "stuck";
  /** When its first processes went on with the release, by the clock of Temporal. */
  since: number;
  /** The ids of those that got stuck. Temporal marks one only after some more failures. */
  stuck: string[];
}

/** The processes that a run which was cut off has given to the release go back; undefined where there was none. */
export async function takeBackCutOff(
  where: Namespace,
  { deploymentName, buildId }: Release,
): Promise<CutOff | undefined> {
  const before = await routingOf(where, deploymentName);
  const { conflictToken, rampingVersionChangedTime } = before;
  if (before.rampingDeploymentVersion?.buildId !== buildId) return undefined;
  const since = msOf(rampingVersionChangedTime ?? {});
  const stuck = await stuckSince(where, since);
  if (!mayGoBack(before.currentDeploymentVersion?.buildId, buildId))
    return { state: "stuck", since, stuck };
  const none = { namespace: where.namespace, deploymentName, conflictToken, buildId: "" };
  await where.connection.workflowService.setWorkerDeploymentRampingVersion(none);
  return { state: "takenBack", since, stuck };
}

/**
 * The version before stays current until no process got stuck at the release, so that no share is all that takes it back. Throws what
 * Temporal answers where another one changes the deployment meanwhile.
 */
export async function rampRelease(
  where: Namespace,
  { deploymentName, buildId }: Release,
  { percentage, watchMs, since, say }: Ramping,
): Promise<Ramped> {
  const { workflowService } = where.connection;
  const before = await routingOf(where, deploymentName);
  if (before.currentDeploymentVersion?.buildId === buildId) return { state: "current" };
  // Each change names the one before it, so that of two operators one is refused.
  let { conflictToken } = before;
  const of = { namespace: where.namespace, deploymentName };
  const ramp = async (to: string, share: number): Promise<void> => {
    const change = { ...of, conflictToken, buildId: to, percentage: share };
    ({ conflictToken } = await workflowService.setWorkerDeploymentRampingVersion(change));
  };

  for (const share of new Set([percentage, 100])) {
    await ramp(buildId, share);
    since ??= msOf((await routingOf(where, deploymentName)).rampingVersionChangedTime ?? {});
    say(`${share} % of the processes go on with ${buildId}`);
    const stuck = await watch(where, since, watchMs);
    if (stuck.length === 0) continue;
    if (!mayGoBack(before.currentDeploymentVersion?.buildId, buildId))
      return { state: "stuck", stuck };
    say(`stuck: ${stuck.join(", ")}; all go back`);
    await ramp("", 0);
    return { state: "takenBack", stuck };
  }
  await workflowService.setWorkerDeploymentCurrentVersion({ ...of, conflictToken, buildId });
  return { state: "current" };
}

async function routingOf({ connection, namespace }: Namespace, deploymentName: string) {
  const { conflictToken, workerDeploymentInfo } =
    await connection.workflowService.describeWorkerDeployment({ namespace, deploymentName });
  return { conflictToken, ...workerDeploymentInfo?.routingConfig };
}

/** Ends as soon as one has got stuck. */
async function watch(where: Namespace, since: number, watchMs: number): Promise<string[]> {
  for (const end = Date.now() + watchMs; ;) {
    const stuck = await stuckSince(where, since);
    const leftMs = end - Date.now();
    if (stuck.length > 0 || leftMs <= 0) return stuck;
    await delay(Math.min(LOOK_MS, leftMs));
  }
}

/** By the clock of Temporal. */
async function stuckSince(where: Namespace, since: number): Promise<string[]> {
  const found: string[] = [];
  const open = listExecutions(where, await candidatesQuery(where));
  for await (const { execution, stuck } of filterStuck(where, open))
    if (Date.parse(stuck.since) >= since) found.push(execution.workflowId);
  return found;
}

function unlessUnknown(error: unknown): undefined {
  if (grpcOf(error).code !== status.notFound) throw error;
}
