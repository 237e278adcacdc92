// Starts the longest test files first, so that none of them is what a run waits for at its end. Vitest's own order knows only what it has
// measured here before: on a fresh clone it goes by the size of the files, and a small one may start the whole system.
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";

/** Of `npm test` those that take ten seconds and more on two quiet cores, of the others a minute and more; the longest one first. */
export const longest = [
  "test/long/docs/system.test.ts",
  "test/long/docs/others.test.ts",
  "test/long/bench/smoke.test.ts",
  "test/long/docs/languages.test.ts",
  "test/long/simulation/simulation.test.ts",
  "test/long/e2e/release.test.ts",
  "test/long/e2e/stuck.test.ts",
  "test/long/deploy/mtls.test.ts",
  "test/long/histories/personal-data.test.ts",
  "test/long/package/registry.test.ts",
  "test/long/e2e/virtual-clock.test.ts",
  "test/long/e2e/json-output.test.ts",
  "test/long/comparison/comparison.test.ts",
  "test/long/crashes/send-postal.test.ts",
  "test/long/e2e/processes.test.ts",
  "test/long/package/installed.test.ts",
  "test/long/deploy/systemd.test.ts",
  "test/long/e2e/metrics.test.ts",
  "test/e2e/promises.test.ts",
  "test/e2e/watching.test.ts",
  "test/simulation/simulate.test.ts",
  "test/replay/replay.test.ts",
  "test/temporal/worker-watch.test.ts",
  "test/cli/roles.test.ts",
  "test/simulation/temporal/engine.alone.test.ts",
  "test/callbacks/relay/relay.test.ts",
  "test/callbacks/relay/failing-rows.test.ts",
  "test/providers/errors/leaks.test.ts",
  "test/workflows/long-waits.alone.test.ts",
  "test/callbacks/inbox/quota.test.ts",
  "test/callbacks/receiver/receiver.test.ts",
  "test/client/status.test.ts",
  "test/cleanup/erase.test.ts",
  "test/providers/http/mutual-tls.test.ts",
];

/** @typedef {Parameters<BaseSequencer["sort"]>[0]} Files */

/** @param {Files[number]} file */
function rank({ moduleId, project }) {
  const place = longest.indexOf(relative(project.config.root, moduleId));
  return place < 0 ? longest.length : place;
}

/**
 * These files start first: Vitest ends a shared process when the next file needs one of its own, and a new one loads all modules again.
 * @param {Files[number]} file
 */
const alone = ({ project }) => Number(project.name === "alone");

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {Files} files
   */
  async sort(files) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of Vitest, which sorts no array of ours
    const ordered = await super.sort(files);
    return ordered.toSorted((one, other) => alone(other) - alone(one) || rank(one) - rank(other));
  }
}
