// What the processes bring to the generators, found by the names of their folders. complete.test.ts names what a process lacks.
import { existsSync } from "node:fs";
import { commandOf, processes } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import type { Brought } from "./brought.js";
import type { ProcessUnderTest } from "./process-under-test.js";

export const brought = {} as Record<ProcessName, Brought>;
for (const processName of processes) {
  const folder = commandOf(processName);
  if (!existsSync(new URL(`./${folder}/index.ts`, import.meta.url))) continue;
  const own = (await import(`./${folder}/index.js`)) as { brought: Brought };
  brought[processName] = own.brought;
}

export const processesUnderTest = Object.values(brought).map(
  ({ underTest }) => underTest as ProcessUnderTest,
);
