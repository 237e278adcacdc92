// What every endpoint of the one-shot signature service shares: the account, the token, the request's id in the path.
import { z } from "zod";
import type { Secret } from "../../contracts/shared/values.js";
import { misuse } from "../http/answer.js";
import { call as callHost } from "../http/call.js";
import type { Answered, Host, Request } from "../http/call.js";
import { jsonOrEmpty } from "../http/described.js";
import type { Described } from "../http/described.js";
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
  /** Of each member of an answer, and of each word of `state`, the names that it may have. */
  members: Record<keyof typeof assumed.members, readonly string[]>;
  words: Record<keyof typeof assumed.words, readonly string[]>;
  /** By which name something is sent. */
  sent: Record<keyof typeof assumed.sent, string>;
  hashAlgorithm: string;
}

interface OneShotRequest extends Request {
  requestPk?: string;
  /** What the request carries in secret besides the token. */
  secrets?: readonly string[];
}

/** One HTTP call with the account's token; throws for what is no described answer. */
export async function call<T>(
  account: OneShotSignatureAccount,
  operation: OneShotOperation,
  { requestPk, secrets = [], ...request }: OneShotRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.token.reveal();
  const path = requestPk === undefined ? request.path : filled(operation, request.path, requestPk);
  const headers = { ...request.headers, [account.tokenHeader]: account.tokenPrefix + token };
  const sent = { credentials: [token], secrets };
  const whole = { ...request, path, headers, sent };
  return callHost(asking(operation), account, whole, described, (answer) =>
    refusal(operation, answer, account),
  );
}

/** The body of a success whose shape nobody needs: it is not shown (P1 §4.4). */
export const open = jsonOrEmpty(z.unknown());

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
