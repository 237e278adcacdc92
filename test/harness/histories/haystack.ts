// Everything that the system has written somewhere, as bytes: histories, visibility, logs, metrics, rows, files.
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import protobuf from "@temporalio/proto";
import { everyRow } from "../stack/postgres.js";
import { historyOf, type TestStack } from "../stack/stack.js";

export type Haystack = [name: string, bytes: Buffer];

const { History } = protobuf.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = protobuf.temporal.api.workflowservice.v1;

/** Of every run: what `temporal workflow show` exports, and what the server stores. */
export async function* histories(system: TestStack): AsyncIterable<Haystack> {
  for await (const { workflowId, runId } of system.client.temporal.workflow.list()) {
    const { exported, raw } = await historyBytes(system, workflowId, runId);
    yield [`history of ${workflowId}`, exported];
    yield [`history of ${workflowId}, raw`, raw];
  }
}

export async function historyBytes(...which: Parameters<typeof historyOf>) {
  const history = await historyOf(...which);
  return {
    exported: Buffer.from(historyToJSON(history)),
    raw: Buffer.from(History.encode(history).finish()),
  };
}

/** Search attributes, memo, pending activities with their last failures. */
export async function* descriptions({ client }: TestStack): AsyncIterable<Haystack> {
  const { workflowService } = client.temporal;
  for await (const { workflowId, runId } of client.temporal.workflow.list()) {
    const described = await workflowService.describeWorkflowExecution({
      namespace: "default",
      execution: { workflowId, runId },
    });
    const bytes = DescribeWorkflowExecutionResponse.encode(described).finish();
    yield [`description of ${workflowId}`, Buffer.from(bytes)];
  }
}

/** Every row of every table of ours. */
export async function* rows({ pool }: TestStack): AsyncIterable<Haystack> {
  for await (const [name, row] of everyRow(pool))
    yield [`table ${name}`, Buffer.concat(Object.values(row).map(bytesOf))];
}

/** As a column holds it. */
export const bytesOf = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value ?? null));

/** Of each role, by the port that serves them. */
export async function* metrics(ports: number[]): AsyncIterable<Haystack> {
  for (const port of ports) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    if (!text.includes("trustflow_")) throw new Error(`no metrics of ours on port ${port}`);
    yield ["metrics", Buffer.from(text)];
  }
}

/** Each file below the stack's folder but the sandbox's, who is the provider and knows everything. */
export async function* files({ stack }: TestStack): AsyncIterable<Haystack> {
  for await (const [name, bytes] of filesBelow(stack.directory))
    if (!name.startsWith("sandbox/") && name !== "logs/sandbox.log") yield [name, bytes];
}

/** A file that vanishes meanwhile is left out. */
export async function* filesBelow(directory: string): AsyncIterable<Haystack> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    if (bytes) yield [relative(directory, path), bytes];
  }
}
