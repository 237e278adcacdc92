// Many processes of one kind at once, started as fast as the client can.
import pLimit from "p-limit";
import type { ProcessHandle } from "../../../src/client.js";
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
