// Many processes of one kind at once, started as fast as the client can, and counted by what Temporal's visibility shows.
import pLimit from "p-limit";
import type { ProcessHandle } from "../../../src/client.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import type { ProcessUnderTest, Variant } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";

const CONCURRENT_STARTS = 20;

export function startMany<Handle extends ProcessHandle<{ outcome: string }>>(
  { client }: TestStack,
  underTest: ProcessUnderTest<Handle>,
  ids: string[],
  variant?: Variant,
): Promise<Handle[]> {
  return pLimit(CONCURRENT_STARTS).map(ids, (id) => underTest.start(client, id, variant));
}

/** How many open processes wait for a person. */
export async function waitingCount({ client }: TestStack): Promise<number> {
  const query = `${searchAttributes.attention.name} IS NOT NULL AND ExecutionStatus = "Running"`;
  return (await client.temporal.workflow.count(query)).count;
}
