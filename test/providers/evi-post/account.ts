// The account that the tests of the postal client use, and one call of each operation.
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory } from "../memory-keep.js";
import type { EviPostAccount, PostalSubmission } from "../../../src/providers/evi-post/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { defaultAccount } from "../default-account.js";
import type { Say } from "../default-account.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";

export function accountAt(baseUrl: string, changes: Partial<EviPostAccount> = {}): EviPostAccount {
  return {
    ...defaultAccount("evi-post", { baseUrl, username: "trustflow", password: "a password" }),
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

export const submission: PostalSubmission = {
  document: Buffer.from("%PDF-1.4"),
  recipientAddress: {
    streetAddress: "Calle Mayor 1",
    postalCode: "28013",
    locality: "Madrid",
    country: "ES",
  },
};

export function callsWith(
  say: Say = (text) => text,
): Record<Operation<"evi-post">, (account: EviPostAccount) => Promise<unknown>> {
  const uniqueId = say("5f2c9f0e-2f64-4a3b-8c0d-8f6c3a1b7d21");
  const { streetAddress, postalCode, locality, country } = submission.recipientAddress;
  const submitted: PostalSubmission = {
    document: Buffer.from(say("%PDF-1.4")),
    recipientAddress: {
      streetAddress: say(streetAddress ?? ""),
      postalCode: say(postalCode ?? ""),
      locality: say(locality ?? ""),
      country,
    },
    recipientName: say("Ada"),
    options: { evidenceAccessControlChallengeResponse: new Secret(say("blue")) },
  };
  return {
    submit: (account) => client.submit(account, submitted, say("token")),
    // An id with a comma cannot be queried.
    query: (account) => client.query(account, { uniqueIds: [uniqueId.replaceAll(",", "")] }),
    requestAffidavit: (account) => client.requestAffidavit(account, { uniqueId }),
    cancel: (account) => client.cancel(account, { uniqueId }),
    downloadAffidavits: (account) =>
      client.downloadAffidavits(account, [say("affidavit-1")], inMemory),
  };
}

export const calls = callsWith();
