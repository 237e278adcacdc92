// Makes the request of every endpoint of the disposable certificate service (P1 §4.1, §5.1).
import { call as callHost } from "../http/call.js";
import type { Answered } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { DisposableCertificateAccount } from "./account.js";
import type { CertificateOperation } from "./effects.js";
import { operationOf, refusal } from "./translate.js";
import { paths } from "./wire.js";

/** One HTTP call with both credentials; throws for what is no described answer. `secrets`: what `json` carries in secret. */
export async function call<T>(
  account: DisposableCertificateAccount,
  operation: CertificateOperation,
  json: object,
  { secrets, signal }: { secrets: readonly string[]; signal: AbortSignal | undefined },
  described: Described<T>,
): Promise<Answered<T>> {
  const path = paths[operation].replace("{lraId}", () => encodeURIComponent(account.lraId));
  const request = {
    method: "POST",
    path,
    basic: account,
    json,
    sent: { secrets },
    signal,
  } as const;
  return callHost(operationOf(operation), account, request, described, (answer) =>
    refusal(operation, answer, account),
  );
}
