// Notes the callbacks of a batch in the database, an item a row; the process gets none of them (src/batch/items/items.ts).
import type { BatchItems, HeardItem } from "../../batch/items/items.js";
import type { ProcessContract } from "../../contracts/definition/process-contract.js";
import { contractOf, parseWorkflowId } from "../../contracts/registry.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { readRows } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import type { ClaimedRow, Settlement } from "../inbox/rows.js";
import { inHalves } from "./halves.js";

export interface ItemTools extends Reader {
  keep: (heard: HeardItem[]) => ReturnType<BatchItems["keep"]>;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
}

type Words = NonNullable<ProcessContract["items"]>;

/** Undefined if the row reports no item of a batch. */
export function itemWordsOf({ account, workflowId }: ClaimedRow): Words | undefined {
  const processName = account === null ? parseWorkflowId(workflowId)?.process : undefined;
  return processName && contractOf(processName).items;
}

/** Parks what cannot be read or stored, and keeps the rest in one commit. */
export async function keepItems(rows: ClaimedRow[], words: Words, tools: ItemTools): Promise<void> {
  const readable = await readRows(rows, tools);
  await inHalves(
    readable.map(({ row, said }) => ({ row, item: heardOf(row.id, said.event, words) })),
    (some) => tools.keep(some.map(({ item }) => item)),
    ({ row }, refusal) => tools.settle([row], refusal),
  );
}

function heardOf(
  id: string,
  { kind, at, evidenceId, outcome }: ProviderEvent,
  { states, endStates, outcomes }: Words,
): HeardItem {
  const word = outcome?.toLowerCase();
  const known = outcomes.find((name) => name.toLowerCase() === word) ?? outcome;
  return {
    ...{ id, kind, at, rank: states.indexOf(kind) + 1 },
    ...(evidenceId !== undefined && { evidenceId }),
    ...(known !== undefined && endStates.has(kind) && { outcome: known }),
  };
}
