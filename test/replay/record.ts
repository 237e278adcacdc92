// Not a test: `npm run record-histories` runs the paths on the real stack and stores the history of each.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rm } from "node:fs/promises";
import { allPaths, only } from "../harness/histories/paths.js";
import {
  secondPersonEnv,
  secondPersonPaths,
} from "../processes/send-message/second-person-paths.js";
import { startPathStack } from "../harness/histories/stack.js";
import type { PathStack, PathResults } from "../harness/histories/stack.js";
import { recordingRing, recordingsOf, writeRecording } from "../harness/histories/recordings.js";
import { idOf } from "../harness/histories/path-run.js";
import type { PathsOf } from "../harness/histories/path-run.js";

/** Processes, or single paths of them as `<process>/<path>`. If none is named, every path of every process is recorded. */
const asked = process.env["RECORDED"]?.split(" ") ?? [];
const isWhole = (name: string) => asked.length === 0 || asked.includes(name);
const recordedOf = (all: PathsOf[]) =>
  all
    .map((of) => {
      const isAsked = (path: string) =>
        isWhole(of.process) || asked.includes(`${of.process}/${path}`);
      return only(of, Object.keys(of.paths).filter(isAsked));
    })
    .filter(({ paths }) => Object.keys(paths).length > 0);
/** Each path runs on its own stack; the first one has every process. */
const groups = [
  { name: "alone", recorded: recordedOf(allPaths), env: {}, isFirst: true },
  {
    name: "by two",
    recorded: recordedOf([secondPersonPaths]),
    env: secondPersonEnv,
    isFirst: false,
  },
].filter(({ recorded }) => recorded.length > 0);

describe.each(groups)("decided $name", ({ recorded, env, isFirst }) => {
  const paths = recorded.flatMap((of) => Object.keys(of.paths).map((id) => ({ of, id })));
  let stack: PathStack;
  let results: PathResults;

  beforeAll(async () => {
    stack = await startPathStack(recorded, "secret", {
      env: { ...env, TRUSTFLOW_KEYS__CODEC: recordingRing },
    });
    results = await stack.runPaths(recorded);
    for (const { process: name } of recorded.filter((of) => isFirst && isWhole(of.process)))
      await rm(recordingsOf(name), { recursive: true, force: true });
  }, 900_000);
  afterAll(() => stack?.system.close(), 60_000);

  test.each(paths.map((path) => [idOf(path), path] as const))(
    "%s",
    async (workflowId, { of, id }) => {
      const result = results.get(workflowId);
      if (result?.status === "rejected") throw result.reason;
      const { workflow } = stack.system.client.temporal;
      const { runId } = await workflow.getHandle(workflowId).describe();
      const history = await workflow.getHandle(workflowId, runId).fetchHistory();
      expect(history.events?.length).toBeGreaterThan(3);
      await writeRecording(of.process, id, { workflowId, history });
    },
  );
});
