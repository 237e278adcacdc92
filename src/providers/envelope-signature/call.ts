// The account of the envelope-based one-shot signature and its two hosts (P1 §4.5, §5.5).
import type { Secret } from "../../contracts/values.js";
import { call } from "../call.js";
import type { Host, Request } from "../call.js";
import type { Received } from "../redaction.js";
import { asking, refusal } from "./translate.js";
import type { EnvelopeOperation } from "./translate.js";
import { API_TOKEN_HEADER } from "./wire.js";

export interface EnvelopeSignatureAccount {
  name: string;
  /** The certificate-authority host; its credential is the client certificate in `tls`. */
  ca: Host;
  /** The envelope host. */
  esign: Host;
  /** Of the envelope host. */
  apiToken: Secret;
  /** P1 §2.10: the VENDOR in `GenericSigningPlugin<VENDOR>OneShot`. */
  vendor: string;
}

/** One HTTP call to the certificate-authority host; throws for any status outside 2xx. */
export async function callAuthority(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  request: Request,
): Promise<Received> {
  return call(asking(operation), account.ca, request, (answer) => refusal(operation, answer));
}

/** One HTTP call to the envelope host; throws for any status outside 2xx. `tokens`: what it carries besides the API token. */
export async function callEnvelopeHost(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  { tokens = [], ...request }: Request & { tokens?: readonly string[] },
): Promise<Received> {
  const token = account.apiToken.reveal();
  const headers = { ...request.headers, [API_TOKEN_HEADER]: token };
  const sent = { credentials: [token, ...tokens] };
  return call(asking(operation), account.esign, { ...request, headers, sent }, (answer) =>
    refusal(operation, answer),
  );
}
