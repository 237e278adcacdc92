// Starts the longest test files first, so that none of them is what a run waits for at its end. Vitest's own order knows only what it has
// measured here before: on a fresh clone it goes by the size of the files, and a small one may start the whole system.
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";

/** Of `npm test` those that take ten seconds and more on two quiet cores, of the others a minute and more; the longest one first. */
export const longest = [
  "test/long/docs/system.test.ts",
  "test/long/docs/others.test.ts",
  "test/long/docs/languages.test.ts",
  "test/long/simulation/simulation.test.ts",
  "test/long/bench/smoke.test.ts",
  "test/long/crashes/send-postal.test.ts",
  "test/long/histories/personal-data.test.ts",
  "test/long/e2e/virtual-clock.test.ts",
  "test/long/comparison/comparison.test.ts",
  "test/long/package/registry.test.ts",
  "test/long/e2e/release.test.ts",
  "test/long/e2e/stuck.test.ts",
  "test/long/e2e/processes.test.ts",
  "test/long/e2e/json-output.test.ts",
  "test/long/outages/client.test.ts",
  "test/e2e/promises.test.ts",
  "test/e2e/watching.test.ts",
  "test/long/dev/stack.test.ts",
  "test/long/dev/embedded.test.ts",
  "test/simulation/simulate.test.ts",
  "test/replay/replay.test.ts",
  "test/long/storms/hostile.temporal.test.ts",
  "test/long/e2e/signed-decisions.test.ts",
  "test/cli/roles.test.ts",
  "test/cli/upkeep/documents.test.ts",
  "test/callbacks/receiver/receiver.test.ts",
  "test/cli/reach.test.ts",
  "test/batch/items/callbacks.test.ts",
  "test/workflows/long-waits.alone.test.ts",
];

/** @typedef {Parameters<BaseSequencer["sort"]>[0]} Files */

/** @param {Files[number]} file */
function rank({ moduleId, project }) {
  const place = longest.indexOf(relative(project.config.root, moduleId));
  return place < 0 ? longest.length : place;
}

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {Files} files
   */
  async sort(files) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of Vitest, which sorts no array of ours
    const ordered = await super.sort(files);
    return ordered.toSorted((one, other) => rank(one) - rank(other));
  }
}
