// The account of the envelope-based one-shot signature and its two hosts (P1 §4.5, §5.5).
import type { Secret } from "../../contracts/shared/values.js";
import { call } from "../http/call.js";
import type { Answered, Host, Request } from "../http/call.js";
import type { Described } from "../http/described.js";
import { asking, refusal } from "./translate.js";
import type { EnvelopeOperation } from "./translate.js";
import { API_TOKEN_HEADER } from "./wire.js";
import type { assumed } from "./wire.js";

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
  /** Assumed: the part of an upload that carries the file. */
  filePart: string;
  /** Assumed: the names that the envelope's id may have. */
  members: Record<keyof typeof assumed.members, readonly string[]>;
}

/** One HTTP call to the certificate-authority host; throws for what is no described answer. */
export async function callAuthority<T>(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  return call(asking(operation), account.ca, request, described, (answer) =>
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
    asking(operation),
    account.esign,
    { ...request, headers, sent },
    described,
    (answer) => refusal(operation, answer),
  );
}
