// Not a test of its own: `npm run record-histories` walks every path on the real stack and keeps the history of each.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sendPostalPaths } from "../support/history-paths.js";
import { startPathStack } from "../support/history-stack.js";
import type { PathStack } from "../support/history-stack.js";
import { recordedFolder, recordingRing, writeRecording } from "../support/history-recordings.js";

describeRecording(sendPostalPaths);

function describeRecording(of: typeof sendPostalPaths): void {
  let stack: PathStack;
  let walked: Map<string, PromiseSettledResult<void>>;

  beforeAll(async () => {
    const env = { TRUSTFLOW_KEYS__CODEC: recordingRing };
    stack = await startPathStack(of, "secret", { env });
    walked = await stack.walkAll();
    await rm(join(recordedFolder, of.process), { recursive: true, force: true });
  }, 180_000);
  afterAll(() => stack?.system.close(), 60_000);

  test.each(Object.keys(of.paths))(`${of.process}: %s`, async (path) => {
    const way = walked.get(path);
    if (way?.status === "rejected") throw way.reason;
    const workflowId = `${of.process}/${path}`;
    const { workflow } = stack.system.client.temporal;
    const { runId } = await workflow.getHandle(workflowId).describe();
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    expect(history.events?.length).toBeGreaterThan(3);
    await writeRecording(of.process, path, { workflowId, history });
  });
}
