// Gives the open processes to the workers of a new release, some first. A release at which processes get stuck is taken back
// (docs/operations/upgrade.md). The state stands in Temporal alone, so the command may be run again wherever it was cut off.
import { setTimeout as delay } from "node:timers/promises";
import { workflowTaskQueue } from "../contracts/shared/names.js";
import { unlessNotFound } from "../temporal/grpc-status.js";
import { msOf, pollsAtAllPartitions } from "../temporal/visibility/task-queue.js";
import type { Poll, Namespace } from "../temporal/visibility/task-queue.js";
import { candidatesQuery, filterStuck, listExecutions } from "../temporal/visibility/stuck.js";

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
 * `stuck`: the ids of the processes that got stuck; none where the release is taken back because its workers are gone. In the states
 * `stuck` and `absent` all stay where they are, because the release begins a generation.
 */
export type Ramped =
  | { state: "current" | "absent" }
  | { state: "takenBack" | "stuck"; stuck: string[] };

const LOOK_MS = 5_000;
/** A poll lasts a minute at most, and Temporal notes when each one begins. */
const SILENT_MS = 180_000;
/** Longer than a worker whose polls fail pauses: Temporal forgets polls when it starts again, and keeps each answer for five seconds. */
const ANSWER_MS = 30_000;

/** Temporal knows a new release only some time after the first poll of its workers. */
export async function isPolled(where: Namespace, release: Release): Promise<boolean> {
  for (const end = Date.now() + ANSWER_MS; ; await delay(1_000)) {
    const polls = await pollsAtAllPartitions(where, workflowTaskQueue);
    if (hasWorkers(polls, release) && (await isKnown(where, release))) return true;
    if (Date.now() > end) return false;
  }
}

/** By the newest poll of any worker instead of by a clock, so that no clock but Temporal's counts. */
export function hasWorkers(polls: Poll[], { deploymentName, buildId }: Release): boolean {
  const newest = Math.max(...polls.map(({ atMs }) => atMs));
  return polls.some(
    ({ atMs, release }) =>
      release?.deploymentName === deploymentName &&
      release.buildId === buildId &&
      newest - atMs < SILENT_MS,
  );
}

async function isKnown(where: Namespace, { deploymentName, buildId }: Release): Promise<boolean> {
  const { versionSummaries } = await routingOf(where, deploymentName);
  return (
    versionSummaries?.some((version) => version.deploymentVersion?.buildId === buildId) ?? false
  );
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
  release: Release,
  { percentage, watchMs, since, say }: Ramping,
): Promise<Ramped> {
  const { workflowService } = where.connection;
  const { deploymentName, buildId } = release;
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
    const problem = await watch(where, release, since, watchMs);
    if (problem === undefined) continue;
    const { stuck } = problem;
    if (!mayGoBack(before.currentDeploymentVersion?.buildId, buildId))
      return stuck.length > 0 ? { state: "stuck", stuck } : { state: "absent" };
    const why = stuck.length > 0 ? `stuck: ${stuck.join(", ")}` : "its workers poll no more";
    say(`${why}; all go back`);
    await ramp("", 0);
    return { state: "takenBack", stuck };
  }
  await workflowService.setWorkerDeploymentCurrentVersion({ ...of, conflictToken, buildId });
  return { state: "current" };
}

/** Nothing where no worker of the deployment has polled yet. */
async function routingOf({ connection, namespace }: Namespace, deploymentName: string) {
  const known = await connection.workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch(unlessNotFound);
  const { routingConfig, versionSummaries } = known?.workerDeploymentInfo ?? {};
  return { conflictToken: known?.conflictToken ?? null, versionSummaries, ...routingConfig };
}

/** Ends as soon as a process has got stuck, or no worker of the release polls: `stuck` is empty then. */
async function watch(
  where: Namespace,
  release: Release,
  since: number,
  watchMs: number,
): Promise<{ stuck: string[] } | undefined> {
  for (const end = Date.now() + watchMs; ;) {
    const stuck = await stuckSince(where, since);
    if (stuck.length > 0 || !(await isPolled(where, release))) return { stuck };
    const leftMs = end - Date.now();
    if (leftMs <= 0) return undefined;
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
