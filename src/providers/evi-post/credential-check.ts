// The call by which `trustflow doctor` proves the credentials: a query for an item that does not exist.
import { randomUUID } from "node:crypto";
import type { EviPostAccount } from "./account.js";
import { query } from "./client.js";

export function checkCredentials(account: EviPostAccount, timeoutMs: number): Promise<unknown> {
  return query({ ...account, timeoutMs }, { uniqueIds: [randomUUID()], limit: 1 });
}
