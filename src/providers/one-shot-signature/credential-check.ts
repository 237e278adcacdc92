// The call by which `trustflow doctor` proves the token: the list of tokens.
import type { OneShotSignatureAccount } from "./account.js";
import { listTokens } from "./client.js";

export function checkCredentials(
  account: OneShotSignatureAccount,
  timeoutMs: number,
): Promise<unknown> {
  return listTokens({ ...account, timeoutMs });
}
