// Has an entry for each process of the list (processes.ts). From it are derived the commands that start a process, the defaults in the
// configuration, the JSON Schemas and the tables of the tests. Workflows know no zod and import its types alone.
import type { z } from "zod";
import { resolve } from "./definition/message-contract.js";
import type { UpdateContract } from "./definition/message-contract.js";
import { BUSINESS_ID_LENGTH, splitWorkflowId } from "./shared/names.js";
import { registry } from "./processes.js";
import type { ProcessContract } from "./definition/process-contract.js";
import { BusinessId } from "./shared/values.js";

export { registry };
export type Registry = typeof registry;
export type ProcessName = keyof Registry;
export const processes: readonly ProcessName[] = Object.keys(registry) as ProcessName[];
/** The input of a process, by its name. */
export type InputOf<P extends ProcessName> = z.output<Registry[P]["input"]>;
/** The result of a process, by its name. */
export type ResultOf<P extends ProcessName> = z.output<Registry[P]["result"]>;

/** The entry as what all entries have in common. */
export function contractOf(processName: ProcessName): ProcessContract {
  return registry[processName];
}

/** An id for the process: those of the processes that it starts itself are longer, and have to fit too. */
export function businessIdOf(processName: ProcessName): z.ZodType<string> {
  const suffixes = (contractOf(processName).children ?? []).map(({ suffix }) => suffix);
  const longest = Math.max(0, ...suffixes.map(({ length }) => length));
  if (longest === 0) return BusinessId;
  const most = BUSINESS_ID_LENGTH - longest;
  const why = `must have at most ${most} characters: ${suffixes.join(" or ")} is added to it`;
  return BusinessId.max(most, why);
}

/** The workflow ids of the processes that this one starts itself; empty for one that starts none. */
export function childrenOf(workflowId: string): `${ProcessName}/${string}`[] {
  const parsed = parseWorkflowId(workflowId);
  if (!parsed) return [];
  return (contractOf(parsed.process).children ?? []).map(
    ({ process: child, suffix }) => `${child}/${parsed.id}${suffix}` as `${ProcessName}/${string}`,
  );
}

/** The workflow id of the process that starts one with this id itself; undefined for an id that no process would give. */
function parentOf(workflowId: string): `${ProcessName}/${string}` | undefined {
  const parsed = parseWorkflowId(workflowId);
  if (!parsed) return undefined;
  const parents = processes.flatMap((parent) =>
    (contractOf(parent).children ?? [])
      .filter(
        ({ process: child, suffix }) => child === parsed.process && parsed.id.endsWith(suffix),
      )
      .map(({ suffix }) => `${parent}/${parsed.id.slice(0, -suffix.length)}` as const),
  );
  return parents.find((parent) => parseWorkflowId(parent));
}

/**
 * The process, the one that starts it, and all that this one starts: what one of them has, the others may name. Nothing of it is deleted
 * while one of them is open. By their ids alone, so not each of them has to exist.
 */
export function familyOf(workflowId: string): string[] {
  const first = parentOf(workflowId) ?? workflowId;
  return [first, ...childrenOf(first)];
}

/** The updates that the process takes; each process takes `resolve`. */
export function updatesOf(processName: ProcessName): UpdateContract[] {
  return [...Object.values(contractOf(processName).updates), resolve];
}

/** The command that starts the process, and the name of its folders: `send-postal` for `sendPostal`. */
export function commandOf(processName: ProcessName): string {
  return processName.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The two parts of a workflow id, or undefined when it is not one of ours. */
export function parseWorkflowId(
  workflowId: string,
): { process: ProcessName; id: string } | undefined {
  const parts = splitWorkflowId(workflowId);
  const processName = processes.find((name) => name === parts?.process);
  return parts && processName && { process: processName, id: parts.id };
}

export function outcomesOf(processName: ProcessName): string[] {
  return registry[processName].result.shape.outcome.options;
}

type DecisionOf<Updates> = {
  [name in keyof Updates]: Updates[name] extends { decides: true } ? name : never;
}[keyof Updates];
type DecisionUpdate =
  | "resolve"
  | { [P in ProcessName]: DecisionOf<Registry[P]["updates"]> }[ProcessName];

/** The updates by which a person decides; each of them may be signed (docs/design.md §6). */
export const decisionUpdates = [
  ...new Set(
    [resolve, ...processes.flatMap((processName) => updatesOf(processName))]
      .filter(({ decides }) => decides)
      .map(({ name }) => name),
  ),
] as DecisionUpdate[];
