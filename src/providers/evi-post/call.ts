// What every endpoint of the postal API shares: the request around its call.
import { eviCall } from "../evi/call.js";
import type { EviRequest } from "../evi/call.js";
import type { Answered } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { EviPostAccount } from "./account.js";
import type { PostalOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";

/** One HTTP call with the credentials of the account; throws for what is no described answer. */
export async function call<T>(
  account: EviPostAccount,
  operation: PostalOperation,
  request: EviRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const headers = { accept: "application/json, application/zip", ...request.headers };
  return eviCall(asking(operation), account, { ...request, headers }, described, (answer) =>
    refusal(operation, answer),
  );
}
