// Does a release have workers? By polls alone, because no clock but Temporal's counts.
import { expect, test } from "vitest";
import { hasWorkers } from "../../src/cleanup/release.js";

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
