// Checks callback addresses for surplus callbacks and for their lifetime (docs/decisions/0020).
import type { Config } from "../../config.js";
import type { Pool } from "../../postgres/pool.js";
import { Problem } from "./check.js";

const DAY_SECONDS = 86_400;
const MARGIN_DAYS = 30;
/** P2 §8. */
const MAX_TIME_TO_LIVE_DAYS = 60;
const MAX_NAMED = 5;

export function addressLife({ callbacks, sendPostal, sendNotice }: Config): string {
  const letter = daysOf(sendPostal.deadlineSeconds + sendPostal.affidavitWindowSeconds);
  const noticeSpans = [
    sendNotice.deadlineSeconds,
    MAX_TIME_TO_LIVE_DAYS * DAY_SECONDS + sendNotice.deadlineMarginSeconds,
  ];
  const notice = daysOf(Math.max(...noticeSpans) + sendNotice.affidavitWindowSeconds);
  const [what, longest] = notice > letter ? ["notice", notice] : ["letter", letter];
  const detail = `${callbacks.addressDays} days; a ${what} may take ${longest} by the configuration`;
  if (callbacks.addressDays < longest + MARGIN_DAYS) throw new Problem("addressLifeShort", detail);
  return detail;
}

const daysOf = (seconds: number) => Math.ceil(seconds / DAY_SECONDS);

export async function callbackFloods(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select coalesce(workflow_id, 'account ' || account) as name, surplus + refused as count
     from trustflow.callback_addresses where surplus > 0 or refused > 0 order by address limit $1`,
    [MAX_NAMED + 1],
  );
  if (rows.length === 0) return "no address has more callbacks than its process receives";
  const named = rows.slice(0, MAX_NAMED).map(({ name, count }) => `${name} (${count} more)`);
  const others = rows.length > MAX_NAMED ? " and others" : "";
  throw new Problem("callbackFlood", `${named.join(", ")}${others}`);
}
