// An account of the postal API: its keys in the configuration, and the account as the client takes it (P2 §5).
import { z } from "zod";
import { sentAs, timeoutSeconds } from "../../config/account-fields.js";
import {
  accountSecret,
  baseUrl,
  flag,
  listOf,
  oneOf,
  path,
  username,
} from "../../config/fields.js";
import { CountryCode } from "../../contracts/shared/values.js";
import { jsonDigest } from "../../crypto/json-digest.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  timeoutSeconds,
  siteHasRegion: flag()
    .default(true)
    .describe("whether the account's site fills the issuer's region (P2 §2.2)"),
  destinationCountries: listOf(CountryCode, 1)
    .default(["ES"])
    .describe(
      "list of ISO 3166-1 alpha-2 codes; where the account is provisioned to deliver (P2 §1, §8)",
    ),
  /** Assumed: our own key goes into `LookupKey` too (docs/reading-the-specification.md §1). */
  ownKeyInLookupKey: flag()
    .default(false)
    .describe("assumed: our own key goes into `LookupKey` too"),
  affidavits: oneOf("download", "blobs")
    .default("download")
    .describe("assumed: the download endpoint; `blobs`: the deprecated field of a query"),
  affidavitMethod: oneOf("GET", "POST")
    .default("GET")
    .describe("assumed: the method of the download (P2 §4.1)"),
  affidavitPath: path().default("/v1/Affidavits/Download").describe("assumed: its path (P2 §4.1)"),
  affidavitIdsParameter: sentAs(
    "AffidavitIds",
    "its parameter with the ids of affidavits (P2 §4.1)",
  ),
});

/** `lookUpConfiguration` is a digest of the keys that decide which items a look-up finds. None of them is a secret. */
export function accountOf(given: z.infer<typeof keys>, { name }: AccountSettings) {
  const { affidavitMethod, affidavitPath, affidavitIdsParameter, ...more } = given;
  const { affidavits: mode, timeoutSeconds: seconds, ...rest } = more;
  const { baseUrl: url, username: user, ownKeyInLookupKey } = rest;
  const download = {
    method: affidavitMethod,
    path: affidavitPath,
    idsParameter: affidavitIdsParameter,
  };
  const affidavits = mode === "blobs" ? { mode } : { mode, ...download };
  return {
    ...rest,
    name,
    affidavits,
    timeoutMs: seconds * 1_000,
    lookUpConfiguration: jsonDigest({ baseUrl: url, username: user, ownKeyInLookupKey }),
  };
}

export type EviPostAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, username: "sandbox", password: "sandbox" };
}
