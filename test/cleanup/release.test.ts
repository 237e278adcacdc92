// Does a release have workers? By polls alone, because no clock but Temporal's counts.
import { afterEach, expect, test, vi } from "vitest";
import { hasWorkers, isPolled, rampRelease } from "../../src/cleanup/release.js";

afterEach(() => void vi.useRealTimers());

const release = { deploymentName: "letters", buildId: "new" };
const old = { deploymentName: "letters", buildId: "old" };
const now = Date.parse("2026-11-28T12:00:00Z");
const poll = (of: typeof release | undefined, secondsAgo: number) => ({
  identity: "a worker",
  atMs: now - secondsAgo * 1_000,
  ...(of && { release: of }),
});

test.each([
  ["it polls as the old ones do", true, [poll(old, 0), poll(release, 62)]],
  ["one of its workers is gone, and one polls", true, [poll(release, 290), poll(release, 10)]],
  ["it polls alone, by a clock that is far from ours", true, [poll(release, 9_000_000)]],
  [
    "its last poll was minutes before that of an old worker",
    false,
    [poll(old, 0), poll(release, 180)],
  ],
  [
    "its last poll was minutes before that of an unversioned worker",
    false,
    [poll(undefined, 0), poll(release, 200)],
  ],
  ["only the old ones poll", false, [poll(old, 0)]],
  [
    "the same build polls for another deployment",
    false,
    [poll({ ...release, deploymentName: "other" }, 0)],
  ],
  ["nobody polls", false, []],
])("%s: %s", (_, expected, polls) => {
  expect(hasWorkers(polls, release)).toBe(expected);
});

test("a release that polls has workers once Temporal knows it", async () => {
  const versionSummaries = [{ deploymentVersion: release }];
  const known = [Object.assign(new Error(), { code: 5 }), {}, { versionSummaries }];
  const pollers = [{ lastAccessTime: { seconds: now / 1_000 }, deploymentOptions: release }];
  const workflowService = {
    describeNamespace: () => ({}),
    describeTaskQueue: () => ({ versionsInfo: { "": { typesInfo: { 1: { pollers } } } } }),
    async describeWorkerDeployment() {
      const workerDeploymentInfo = known.shift();
      if (workerDeploymentInfo instanceof Error) throw workerDeploymentInfo;
      return { workerDeploymentInfo };
    },
  };
  const where = { connection: { workflowService }, namespace: "default" };
  expect(await isPolled(where as never, release)).toBe(true);
  expect(known).toEqual([]);
});

test.each([
  ["of its generation", "trustflow-1-old", { state: "takenBack", stuck: [] }],
  ["of another generation", "trustflow-0-old", { state: "absent" }],
])(
  "a release whose workers are gone while it is watched goes back to workers %s alone",
  async (_, current, ramped) => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
    const secondsAgo = (seconds: number) => ({ seconds: now / 1_000 - seconds });
    const pollers = [
      { lastAccessTime: secondsAgo(0), deploymentOptions: { ...release, buildId: current } },
      {
        lastAccessTime: secondsAgo(180),
        deploymentOptions: { ...release, buildId: "trustflow-1" },
      },
    ];
    const routingConfig = { currentDeploymentVersion: { buildId: current } };
    const shares: [string, number][] = [];
    const workflowService = {
      describeNamespace: () => ({}),
      describeTaskQueue() {
        // They are asked until half a minute is over.
        vi.setSystemTime(Date.now() + 31_000);
        return { versionsInfo: { "": { typesInfo: { 1: { pollers } } } } };
      },
      describeWorkerDeployment: async () => ({ workerDeploymentInfo: { routingConfig } }),
      listWorkflowExecutions: () => ({ executions: [] }),
      setWorkerDeploymentRampingVersion({ buildId = "", percentage = 0 }) {
        shares.push([buildId, percentage]);
        return {};
      },
    };
    const where = { connection: { workflowService }, namespace: "default" };
    const ramping = { percentage: 5, watchMs: 600_000, say: () => undefined };
    const version = { ...release, buildId: "trustflow-1" };
    expect(await rampRelease(where as never, version, ramping)).toEqual(ramped);
    const back: [string, number][] = ramped.state === "takenBack" ? [["", 0]] : [];
    expect(shares).toEqual([["trustflow-1", 5], ...back]);
  },
);
