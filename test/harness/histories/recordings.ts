// Recorded histories: one file for each path and generation of the workflows, one event a line. They are encrypted as in production,
// with a key that was made for them alone and stands beside them. What is recorded stays: processes of its time may still be open.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  historyFromJSON,
  historyToJSON,
  type History,
} from "@temporalio/common/lib/proto-utils.js";
import { GENERATION } from "../../../src/contracts/shared/names.js";

export const recordedFolder = "test/replay";

/** A key ring for tests, known to everybody. */
export const recordingRing = readFileSync(join(recordedFolder, "test-key-ring.txt"), "utf8").trim();

export const generations = Array.from({ length: GENERATION }, (_, index) => index + 1);

/** The first one has no folder of its own. */
export function recordingsOf(processName: string, generation = GENERATION): string {
  const folder = join(recordedFolder, processName);
  return generation === 1 ? folder : join(folder, `generation-${generation}`);
}

export interface Recording {
  workflowId: string;
  history: History;
}

export async function writeRecording(
  processName: string,
  path: string,
  { workflowId, history }: Recording,
): Promise<void> {
  const folder = recordingsOf(processName);
  await mkdir(folder, { recursive: true });
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] };
  const lines = events.map((event) => JSON.stringify(event, trimmed)).join(",\n");
  const text = `{"workflowId":${JSON.stringify(workflowId)},"history":{"events":[\n${lines}\n]}}\n`;
  await writeFile(join(folder, `${path}.json`), text);
}

/** Replay needs neither who it was, nor what an activity was given, nor what the Web UI showed. */
function trimmed(this: object, key: string, value: unknown): unknown {
  if (key === "input" && "activityType" in this) return undefined;
  return ["identity", "requestId", "taskId", "userMetadata"].includes(key) ? undefined : value;
}

export function readRecordings(processName: string, generation = 1): Recording[] {
  const folder = recordingsOf(processName, generation);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.map((file) => {
    const { workflowId, history } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return { workflowId, history: historyFromJSON(history) };
  });
}
