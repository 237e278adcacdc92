// Each call of a batch's set-up that gets no answer, in each way; test/activities has one way of each.
import { afterAll, afterEach, beforeAll } from "vitest";
import { calls, testAppending, testFaults } from "../../../activities/evi-notice-batch/faults.js";
import { batchBench } from "../../../activities/evi-notice-batch/support.js";
import type { Bench } from "../../../activities/evi-notice-batch/support.js";

let replacing: Bench;
let appending: Bench;
beforeAll(async () => {
  replacing = await batchBench();
  appending = await batchBench({ recipientLists: "append" });
  // The search by description has found a batch of ours: from here on its silence proves something.
  for (const bench of [replacing, appending]) await bench.batch().created();
});
afterEach(() => [replacing, appending].forEach(({ sandbox }) => sandbox.faults.clear()));
afterAll(() => Promise.all([replacing.close(), appending.close()]));

testFaults(() => replacing, calls);
testAppending(() => appending);
