// The account that the tests of the postal client use.
import { Secret } from "../../../src/contracts/values.js";
import type { EviPostAccount } from "../../../src/providers/evi-post/client.js";
import { ProviderError } from "../../../src/providers/errors.js";

export function accountAt(baseUrl: string, changes: Partial<EviPostAccount> = {}): EviPostAccount {
  return {
    name: "default",
    baseUrl,
    username: "trustflow",
    password: new Secret("a password"),
    timeoutMs: 5000,
    affidavits: {
      mode: "download",
      method: "GET",
      path: "/v1/Affidavits/Download",
      idsParameter: "AffidavitIds",
    },
    ...changes,
  };
}

/** The ProviderError that a call ends with; anything else fails the test. */
export async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`no ProviderError, but ${String(error)}`);
  return error;
}
