// Recorded histories: one file for each path, one event a line. They are encrypted as in production, with a key that was made for them
// alone and stands beside them. What a release contains stays: processes of its time may still be open.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  historyFromJSON,
  historyToJSON,
  type History,
} from "@temporalio/common/lib/proto-utils.js";

export const recordedFolder = "test/replay";

/** A key ring for tests, known to everybody. */
export const recordingRing = readFileSync(join(recordedFolder, "test-key-ring.txt"), "utf8").trim();

export function recordingsOf(processName: string): string {
  return join(recordedFolder, processName);
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

export function readRecordings(processName: string): Recording[] {
  const folder = recordingsOf(processName);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.map((file) => {
    const { workflowId, history } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return { workflowId, history: historyFromJSON(history) };
  });
}
