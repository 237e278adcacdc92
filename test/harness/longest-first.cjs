// Starts the longest test files first, so that none of them is what a run waits for at its end. Jest's own order knows only
// what it has measured here before: on a fresh clone it goes by the size of the files, and a small one may start the whole
// system. CommonJS, because Jest's class has its types for that alone.
const { relative } = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Of `npm test` those that take ten seconds and more on two quiet cores, of the others a minute and more; the longest one first. */
const longest = [
  "test/long/docs/pages.test.ts",
  "test/long/histories/every-path.test.ts",
  "test/long/simulation/simulation.test.ts",
  "test/long/bench/smoke.test.ts",
  "test/long/crashes/send-postal.test.ts",
  "test/long/e2e/virtual-clock.test.ts",
  "test/long/comparison/comparison.test.ts",
  "test/long/package/registry.test.ts",
  "test/long/e2e/stuck.test.ts",
  "test/long/e2e/processes.test.ts",
  "test/long/e2e/erase.test.ts",
  "test/long/e2e/look-up-proof.test.ts",
  "test/client/outage.test.ts",
  "test/e2e/promises.test.ts",
  "test/simulation/simulate.test.ts",
  "test/replay/replay.test.ts",
  "test/callbacks/relay/hostile.temporal.test.ts",
  "test/e2e/signed-decisions.test.ts",
  "test/cli/roles.test.ts",
  "test/callbacks/inbox/quota.test.ts",
  "test/cli/upkeep/documents.test.ts",
  "packages/dev/test/postgres.test.ts",
  "packages/sandbox/test/providers/evi-post/conformance.test.ts",
  "test/callbacks/receiver/receiver.test.ts",
  "test/cli/reach.test.ts",
  "test/batch/items/callbacks.test.ts",
  "test/workflows/long-waits.test.ts",
];

/** @typedef {Parameters<InstanceType<typeof Sequencer>["sort"]>[0]} Tests */

/** @param {Tests[number]} test */
function rank({ path, context }) {
  const place = longest.indexOf(relative(context.config.rootDir, path));
  return place < 0 ? longest.length : place;
}

module.exports = class LongestFirst extends Sequencer {
  static longest = longest;

  /**
   * @override
   * @param {Tests} tests
   */
  async sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's method, which sorts no array of ours
    const ordered = await super.sort(tests);
    return ordered.toSorted((one, other) => rank(one) - rank(other));
  }
};
