// What the processes bring to the generators, found by the names of their folders: an import
// that fails names the folder that is missing. complete.test.ts names whatever else a process lacks.
import { commandOf, processes } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import type { Brought } from "./brought.js";
import type { ProcessUnderTest } from "./process-under-test.js";

export const brought = {} as Record<ProcessName, Brought>;
for (const processName of processes) {
  const own = (await import(`./${commandOf(processName)}/index.ts`)) as { brought: Brought };
  brought[processName] = own.brought;
}

export const processesUnderTest = Object.values(brought).map(
  ({ underTest }) => underTest as ProcessUnderTest,
);
