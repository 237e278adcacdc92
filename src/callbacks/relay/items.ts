// The callbacks of a batch's notices: noted in the database, a notice a row, and never sent to the process (src/batches/items.ts).
import type { BatchItems, HeardItem } from "../../batches/items.js";
import {
  noticeEndStates,
  noticeOutcomes,
  noticeStates,
} from "../../contracts/send-notice/states.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { splitWorkflowId } from "../../contracts/shared/names.js";
import { read } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import { settleRows } from "../inbox/rows.js";
import type { ClaimedRow, Settlement } from "../inbox/rows.js";
import { inHalves } from "./halves.js";

export interface ItemTools extends Reader {
  keep: (heard: HeardItem[]) => ReturnType<BatchItems["keep"]>;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
}

interface Heard {
  row: ClaimedRow;
  item: HeardItem;
}

const states: readonly string[] = noticeStates;

/** Whether the row reports a notice of a batch. */
export function isOfBatch({ account, workflowId }: ClaimedRow): boolean {
  return account === null && splitWorkflowId(workflowId)?.process === "sendNoticeBatch";
}

/** Parks what cannot be read or stored, and keeps the rest in one commit. */
export async function keepItems(rows: ClaimedRow[], tools: ItemTools): Promise<void> {
  const heard: Heard[] = [];
  const parked: { row: ClaimedRow; settlement: Settlement }[] = [];
  for (const row of rows) {
    const said = read(row, tools);
    if ("event" in said) heard.push({ row, item: heardOf(row.id, said.event) });
    else parked.push({ row, settlement: said });
  }
  await settleRows(parked, tools.settle);
  await inHalves(
    heard,
    (some) => tools.keep(some.map(({ item }) => item)),
    ({ row }, refusal) => tools.settle([row], refusal),
  );
}

function heardOf(id: string, { kind, at, evidenceId, outcome }: ProviderEvent): HeardItem {
  const word = outcome?.toLowerCase();
  const known = noticeOutcomes.find((name) => name.toLowerCase() === word) ?? outcome;
  return {
    ...{ id, kind, at, rank: states.indexOf(kind) + 1 },
    ...(evidenceId !== undefined && { evidenceId }),
    ...(known !== undefined && noticeEndStates.has(kind) && { outcome: known }),
  };
}
