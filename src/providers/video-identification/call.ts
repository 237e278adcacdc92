// The endpoints of the video identification service take the key or the token, in a header and nowhere else (P1 §5.2).
import { z } from "zod";
import type { Secret } from "../../contracts/shared/values.js";
import { misuseError } from "../http/answer.js";
import { call } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import { jsonOrEmpty } from "../http/described.js";
import type { Described } from "../http/described.js";
import type { VideoIdentificationAccount } from "./account.js";
import type { VideoOperation } from "./effects.js";
import { operationOf, refusal } from "./translate.js";
import { API_KEY_HEADER, CallToken } from "./wire.js";

/** Both are the provider's. */
export interface OfConference {
  idConference: string;
  token: Secret;
}

/** One HTTP call with the account's key; throws for what is no described answer. */
export async function callWithKey<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  const key = account.apiKey.reveal();
  const headers = { ...request.headers, [API_KEY_HEADER]: key };
  return send(account, operation, { ...request, headers, sent: { credentials: [key] } }, described);
}

/** One HTTP call with the token of a call; throws for what is no described answer. */
export async function callWithToken<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  { idConference, token: secret, ...request }: Request & OfConference,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = secret.reveal();
  // It would break the header, or be another credential than the one that is meant.
  if (!CallToken.safeParse(token).success)
    throw misuseError(operationOf(operation), "the token of the call is no JWT");
  const { conferenceParameter: name } = account;
  const parameters = name === undefined ? [] : [[name, idConference] as const];
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const sent = { credentials: [token] };
  return send(account, operation, { ...request, parameters, headers, sent }, described);
}

/** The body of a success whose shape is not needed: the specification does not show it (P1 §4.2). */
export const open = jsonOrEmpty(z.unknown());

function send<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  return call(operationOf(operation), account, request, described, (answer) =>
    refusal(operation, answer),
  );
}
