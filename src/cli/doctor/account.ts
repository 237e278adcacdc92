// An account, tried by a query for an item that nobody has: it changes nothing at the provider.
import { randomUUID } from "node:crypto";
import type { Config } from "../../config.js";
import { query } from "../../providers/evi-post/client.js";
import { ProviderError, type ProviderErrorKind } from "../../providers/errors.js";
import { CALL_MS, Problem } from "./check.js";
import type { FindingName } from "./findings.js";

export type PostalAccount = NonNullable<Config["accounts"][string]["evi-post"]>;

const meanings: Partial<Record<ProviderErrorKind, FindingName>> = {
  accessDenied: "credentialsRefused",
  unavailable: "providerAway",
  protocol: "notTheProvider",
};

export async function postalAccount(name: string, account: PostalAccount): Promise<string> {
  const { baseUrl, username, password } = account;
  const { host } = new URL(baseUrl);
  try {
    await query(
      { name, baseUrl, username, password, timeoutMs: 2 * CALL_MS, affidavits: { mode: "blobs" } },
      { uniqueIds: [randomUUID()], limit: 1 },
    );
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new Problem(meanings[error.kind] ?? "notChecked", `${host}: ${error.message}`);
  }
  return `evi-post at ${host} takes the credentials`;
}
