// Calls the two hosts of the envelope-based one-shot signature (P1 §4.5, §5.5).
import { call } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { EnvelopeSignatureAccount } from "./account.js";
import type { EnvelopeOperation } from "./effects.js";
import { operationOf, refusal } from "./translate.js";
import { API_TOKEN_HEADER } from "./wire.js";

/** One HTTP call to the certificate-authority host; throws for what is no described answer. */
export async function callAuthority<T>(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  return call(operationOf(operation), account.ca, request, described, (answer) =>
    refusal(operation, answer),
  );
}

/** One HTTP call to the envelope host; throws for what is no described answer. `tokens`: what it carries besides the API token. */
export async function callEnvelopeHost<T>(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  { tokens = [], ...request }: Request & { tokens?: readonly string[] },
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.apiToken.reveal();
  const headers = { ...request.headers, [API_TOKEN_HEADER]: token };
  const sent = { credentials: [token, ...tokens] };
  return call(
    operationOf(operation),
    account.esign,
    { ...request, headers, sent },
    described,
    (answer) => refusal(operation, answer),
  );
}
