// Gives the open processes to the workers of a new release, some first. A release at which processes get stuck is taken back
// (docs/operations/upgrade.md). The state stands in Temporal alone, so the command may be run again wherever it was cut off.
import { setTimeout as delay } from "node:timers/promises";
import { grpcOf, status } from "../temporal/grpc-status.js";
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
  say(line: string): void;
}

/** `stuck`: the ids of the processes that got stuck. */
export type Ramped = { state: "current" } | { state: "takenBack"; stuck: string[] };

const LOOK_MS = 5_000;

/** Whether a worker of the release has polled. */
export async function isKnown(
  { connection, namespace }: Namespace,
  { deploymentName, buildId }: Release,
): Promise<boolean> {
  const { workflowService } = connection;
  const known = await workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch(unlessUnknown);
  const versions = known?.workerDeploymentInfo?.versionSummaries ?? [];
  return versions.some((version) => version.deploymentVersion?.buildId === buildId);
}

/** Throws what Temporal answers where another one changes the deployment meanwhile. */
export async function rampRelease(
  where: Namespace,
  release: Release,
  { percentage, watchMs, say }: Ramping,
): Promise<Ramped> {
  const { workflowService } = where.connection;
  const { buildId, deploymentName } = release;
  const of = { namespace: where.namespace, deploymentName };
  const known = await workflowService.describeWorkerDeployment(of);
  const { currentDeploymentVersion } = known.workerDeploymentInfo?.routingConfig ?? {};
  const before = currentDeploymentVersion?.buildId ?? "";
  if (before === buildId) return { state: "current" };
  const earlier = await stuckIn(where);
  // Each change names the one before it, so that of two operators one is refused.
  let conflictToken = known.conflictToken;
  const ramp = async (to: string, share: number): Promise<void> => {
    const change = { ...of, conflictToken, buildId: to, percentage: share };
    ({ conflictToken } = await workflowService.setWorkerDeploymentRampingVersion(change));
  };
  const makeCurrent = async (to: string): Promise<void> => {
    const change = { ...of, conflictToken, buildId: to };
    ({ conflictToken } = await workflowService.setWorkerDeploymentCurrentVersion(change));
  };

  await ramp(buildId, percentage);
  say(`${percentage} % of the processes go on with ${buildId}`);
  let stuck = await watch(where, earlier, watchMs);
  if (stuck.length > 0) {
    say(`stuck: ${stuck.join(", ")}; they go back`);
    await ramp("", 0);
    return { state: "takenBack", stuck };
  }
  await makeCurrent(buildId);
  say(`all processes go on with ${buildId}`);
  stuck = await watch(where, earlier, watchMs);
  if (stuck.length === 0) return { state: "current" };
  say(`stuck: ${stuck.join(", ")}; all go back`);
  await makeCurrent(before);
  return { state: "takenBack", stuck };
}

/** Ends as soon as one is stuck that was not stuck before. */
async function watch(where: Namespace, earlier: string[], watchMs: number): Promise<string[]> {
  for (
    const end = Date.now() + watchMs;
    Date.now() < end;
    await delay(Math.min(LOOK_MS, watchMs))
  ) {
    const stuck = (await stuckIn(where)).filter((id) => !earlier.includes(id));
    if (stuck.length > 0) return stuck;
  }
  return [];
}

async function stuckIn(where: Namespace): Promise<string[]> {
  const found: string[] = [];
  const open = listExecutions(where, await candidatesQuery(where));
  for await (const { execution } of filterStuck(where, open)) found.push(execution.workflowId);
  return found;
}

function unlessUnknown(error: unknown): undefined {
  if (grpcOf(error).code !== status.notFound) throw error;
}
