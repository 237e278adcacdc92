// Many processes of one kind at once, started as fast as the client can, and counted by what Temporal's visibility shows.
import type { ProcessHandle } from "../../../src/client.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import type { ProcessUnderTest, Variant } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";

const CONCURRENT_STARTS = 20;

/** One document for all, by reference; after the submit nothing happens for an hour, so that only the submit counts. */
export async function quietVariant({ client }: TestStack): Promise<Variant> {
  const document = await client.documents.put(letterPdf, "application/pdf");
  const settings = { pollIntervalSeconds: 3_600, askIntervalSeconds: 3_600 };
  return { words: "stalled", input: { document, settings } };
}

export async function startMany<Handle extends ProcessHandle<{ outcome: string }>>(
  { client }: TestStack,
  underTest: ProcessUnderTest<Handle>,
  ids: string[],
  variant?: Variant,
): Promise<Handle[]> {
  const waiting = ids.values();
  const handles: Handle[] = [];
  const starter = async () => {
    for (const id of waiting) handles.push(await underTest.start(client, id, variant));
  };
  await Promise.all(Array.from({ length: CONCURRENT_STARTS }, starter));
  return handles;
}

/** How many open processes wait for a person. */
export async function waitingCount({ client }: TestStack): Promise<number> {
  const query = `${searchAttributes.attention.name} IS NOT NULL AND ExecutionStatus = "Running"`;
  return (await client.temporal.workflow.count(query)).count;
}
