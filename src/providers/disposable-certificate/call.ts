// What every endpoint of the disposable certificate service shares: the account, and the request around it (P1 §4.1, §5.1).
import type { Secret } from "../../contracts/shared/values.js";
import { basic, basicSecrets, call as callHost } from "../http/call.js";
import type { Answered, Host } from "../http/call.js";
import type { Described } from "../http/described.js";
import { asking, refusal } from "./translate.js";
import type { CertificateOperation } from "./translate.js";
import { paths } from "./wire.js";
import type { assumed } from "./wire.js";

export interface DisposableCertificateAccount extends Host {
  name: string;
  username: string;
  password: Secret;
  /** The client certificate, which every request shows beside the Basic credentials. */
  tls: NonNullable<Host["tls"]>;
  lraId: string;
  /** What a wrong OTP answers is not shown (P1 §2.4): the codes of `validate` that say so, if they are known. */
  wrongOtpCodes: readonly number[];
  /** P1 §2.4 shows no body of `validate`: by which name each member is sent. */
  validation: Record<keyof typeof assumed.validation, string>;
  /** P1 §2.5: the names that the OTP identifier may have. */
  members: Record<keyof typeof assumed.members, readonly string[]>;
}

/** One HTTP call with both credentials; throws for what is no described answer. `secrets`: what `json` carries in secret. */
export async function call<T>(
  account: DisposableCertificateAccount,
  operation: CertificateOperation,
  json: object,
  { secrets, signal }: { secrets: readonly string[]; signal: AbortSignal | undefined },
  described: Described<T>,
): Promise<Answered<T>> {
  const path = paths[operation].replace("{lraId}", () => encodeURIComponent(account.lraId));
  const headers = { authorization: basic(account) };
  const sent = { credentials: basicSecrets(account), secrets };
  const request = { method: "POST", path, headers, json, sent, signal } as const;
  return callHost(asking(operation), account, request, described, (answer) =>
    refusal(operation, answer, account),
  );
}
