// HTTP Basic of the notification services (P2 §5): 401 for wrong or no credentials, 403 for an account without the service.
import type { Accounts } from "../../engine/accounts.js";
import type { Answer } from "../../exchange/answer.js";
import { basicAccount, header } from "../../exchange/credentials.js";
import type { Admission, Arrival } from "../../exchange/operation.js";

export function authenticate(
  accounts: Accounts,
  arrival: Arrival,
  refuse: (status: 401 | 403, code: string, message: string) => Answer,
): Admission {
  const account = basicAccount(accounts, arrival);
  if (!account) {
    const why = "wrong credentials or missing Authorization header";
    const denial = refuse(401, "Unauthorized", why);
    denial.headers["www-authenticate"] = 'Basic realm="sandbox"';
    return { denial, ...(!header(arrival, "authorization") && { missing: "Authorization" }) };
  }
  if (account.provisioned) return { account };
  const why = "the account is not provisioned for this service";
  return { account, denial: refuse(403, "Forbidden", why) };
}
