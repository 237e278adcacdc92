// What every endpoint of the one-shot signature service shares: the account, the token, the request's id in the path.
import type { Secret } from "../../contracts/values.js";
import { misuse } from "../answer.js";
import { call as callHost } from "../call.js";
import type { Host, Request } from "../call.js";
import type { Received } from "../redaction.js";
import { asking, refusal } from "./translate.js";
import type { OneShotOperation, OtpCodes } from "./translate.js";
import { assumed } from "./wire.js";
import type { AssumedOperation } from "./wire.js";

export interface OneShotSignatureAccount extends Host, OtpCodes {
  name: string;
  /** P1 §5.4: of the registration-authority operator. */
  token: Secret;
  tokenHeader: string;
  /** Right before the token, with its space. */
  tokenPrefix: string;
  /** `{request_pk}` is filled in. Without `retrieve` nobody can be asked about uploads. */
  paths: Record<Exclude<AssumedOperation, "retrieve">, string> & { retrieve?: string | undefined };
}

interface OneShotRequest extends Request {
  requestPk?: string;
  /** What the request carries in secret besides the token. */
  secrets?: readonly string[];
}

/** One HTTP call with the account's token; throws for any status outside 2xx. */
export async function call(
  account: OneShotSignatureAccount,
  operation: OneShotOperation,
  { requestPk, secrets = [], ...request }: OneShotRequest,
): Promise<Received> {
  const token = account.token.reveal();
  const path = requestPk === undefined ? request.path : filled(operation, request.path, requestPk);
  const headers = { ...request.headers, [account.tokenHeader]: account.tokenPrefix + token };
  const sent = { credentials: [token], secrets };
  return callHost(asking(operation), account, { ...request, path, headers, sent }, (answer) =>
    refusal(operation, answer, account),
  );
}

/** Method and path of an operation whose path is assumed. */
export function routeOf(
  account: OneShotSignatureAccount,
  operation: AssumedOperation,
): Pick<Request, "method" | "path"> {
  const path = account.paths[operation];
  if (path === undefined) throw misuse(asking(operation), "no path is configured for it");
  return { method: assumed.methods[operation], path };
}

/** An id that would make another path of it, or that no URL can hold, is never sent. */
function filled(operation: OneShotOperation, path: string, requestPk: string): string {
  if (/^\.{0,2}$|\p{Surrogate}/u.test(requestPk))
    throw misuse(asking(operation), "this request_pk cannot stand in a path");
  return path.replaceAll("{request_pk}", () => encodeURIComponent(requestPk));
}
