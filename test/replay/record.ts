// Not a test of its own: `npm run record-histories` walks the paths on the real stack and keeps the history of each.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { allPaths } from "../support/history-paths.js";
import { startPathStack } from "../support/history-stack.js";
import type { PathStack, Walked } from "../support/history-stack.js";
import { recordedFolder, recordingRing, writeRecording } from "../support/history-recordings.js";
import { idOf } from "../support/history-walk.js";

/** Processes, or single paths of them as `<process>/<path>`; none: every path of all. */
const asked = process.env["RECORDED"]?.split(" ") ?? [];
const isWhole = (name: string) => asked.length === 0 || asked.includes(name);
const recorded = allPaths
  .map((of) => ({
    ...of,
    paths: Object.fromEntries(
      Object.entries(of.paths).filter(
        ([path]) => isWhole(of.process) || asked.includes(`${of.process}/${path}`),
      ),
    ),
  }))
  .filter(({ paths }) => Object.keys(paths).length > 0);
const ways = recorded.flatMap((of) => Object.keys(of.paths).map((id) => ({ of, id })));
let stack: PathStack;
const walked: Walked = new Map();

beforeAll(async () => {
  const env = { TRUSTFLOW_KEYS__CODEC: recordingRing };
  stack = await startPathStack(recorded, "secret", { env });
  for (const of of recorded) for (const [id, way] of await stack.walkPaths(of)) walked.set(id, way);
  for (const { process: name } of recorded.filter((of) => isWhole(of.process)))
    await rm(join(recordedFolder, name), { recursive: true, force: true });
}, 300_000);
afterAll(() => stack?.system.close(), 60_000);

test.each(ways.map((way) => [idOf(way), way] as const))("%s", async (workflowId, { of, id }) => {
  const way = walked.get(workflowId);
  if (way?.status === "rejected") throw way.reason;
  const { workflow } = stack.system.client.temporal;
  const { runId } = await workflow.getHandle(workflowId).describe();
  const history = await workflow.getHandle(workflowId, runId).fetchHistory();
  expect(history.events?.length).toBeGreaterThan(3);
  await writeRecording(of.process, id, { workflowId, history });
});
