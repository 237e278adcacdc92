// Everything that the system has written somewhere, as bytes: histories, visibility, logs, metrics, rows, files.
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import protobuf from "@temporalio/proto";
import pg from "pg";
import type { TestStack } from "../stack/stack.js";

export type Haystack = [name: string, bytes: Buffer];

const { History } = protobuf.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = protobuf.temporal.api.workflowservice.v1;

/** Of every run: what `temporal workflow show` exports, and what the server stores. */
export async function* histories(system: TestStack): AsyncIterable<Haystack> {
  for await (const { workflowId, runId } of system.client.temporal.workflow.list()) {
    const { exported, raw } = await historyOf(system, workflowId, runId);
    yield [`history of ${workflowId}`, exported];
    yield [`history of ${workflowId}, raw`, raw];
  }
}

export async function historyOf({ client }: TestStack, workflowId: string, runId?: string) {
  const history = await client.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
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
export async function* rows({ stack }: TestStack): AsyncIterable<Haystack> {
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'trustflow'",
    );
    for (const { name } of tables) {
      const { rows: all } = await database.query(`select * from trustflow."${name}"`);
      for (const row of all as Record<string, unknown>[]) {
        const values = Object.values(row).map((value) =>
          Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value ?? null)),
        );
        yield [`table ${name}`, Buffer.concat(values)];
      }
    }
  } finally {
    await database.end();
  }
}

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
  const entries = await readdir(stack.directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(stack.directory, path);
    if (name.startsWith("sandbox/") || name === "logs/sandbox.log") continue;
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes) yield [name, bytes];
  }
}
