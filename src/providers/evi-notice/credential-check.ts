// The call by which `trustflow doctor` proves the credentials: a query for a notice that does not exist.
import { randomUUID } from "node:crypto";
import type { EviNoticeAccount } from "./account.js";
import { query } from "./client.js";

export function checkCredentials(account: EviNoticeAccount, timeoutMs: number): Promise<unknown> {
  return query({ ...account, timeoutMs }, { lookupKeys: [randomUUID()], limit: 1 });
}
