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

export interface ItemTools extends Reader {
  keep: (heard: HeardItem[]) => ReturnType<BatchItems["keep"]>;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
}

interface Heard {
  row: ClaimedRow;
  item: HeardItem;
}

/** SQLSTATE classes 22 (data exception), 23 (constraint) and 54 (limit): the fault of a row, not of the database. */
const DATA_ERROR = /^(22|23|54)...$/;

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
  if (heard.length > 0) await keepOrHalve(heard, tools);
}

/** Halves the rows until the one that the database refuses is alone, and parks it: no row stops the others. */
async function keepOrHalve(heard: Heard[], tools: ItemTools): Promise<void> {
  try {
    await tools.keep(heard.map(({ item }) => item));
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || !DATA_ERROR.test(code)) throw error;
    const rows = heard.map(({ row }) => row);
    const detail = `the database refuses it (${code})`;
    if (rows.length === 1)
      return tools.settle(rows, { state: "parked", reason: "unreadable", detail });
    const middle = Math.ceil(heard.length / 2);
    await keepOrHalve(heard.slice(0, middle), tools);
    await keepOrHalve(heard.slice(middle), tools);
  }
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
