// HTTP Basic of the notification services (P2 §5), and how each of them refuses.
import type { Accounts } from "../../engine/accounts.js";
import type { Answer } from "../../exchange/answer.js";
import type { FieldError } from "../../exchange/checker.js";
import { basicAccount, header } from "../../exchange/credentials.js";
import type { Admission, Arrival } from "../../exchange/operation.js";

export interface Refuser {
  refuse(status: number, code: string, message: string): Answer;
  badRequest(errors: FieldError[]): Answer;
  badField(name: string, code: string, problem: string): Answer;
}

export function refuserOf(refuse: Refuser["refuse"], badRequest: Refuser["badRequest"]): Refuser {
  return {
    refuse,
    badRequest,
    badField: (fieldName, errorCode, problem) =>
      badRequest([{ fieldName, errorCode, message: `${fieldName}: ${problem}` }]),
  };
}

/** 401 for wrong or no credentials, 403 for an account without the service. */
export function authenticate(
  accounts: Accounts,
  arrival: Arrival,
  refuse: Refuser["refuse"],
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
