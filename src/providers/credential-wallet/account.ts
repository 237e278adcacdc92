// An account of the credential wallet: its keys in the configuration, and the account as the client takes it (P1 §4.6, §5.6).
import { z } from "zod";
import { names, timeoutSeconds } from "../../config/account-fields.js";
import { accountSecret, baseUrl, list, plain, text } from "../../config/fields.js";
import { isSameSpelling } from "../../contracts/shared/values.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  /** The API Operator has it (P1 §5.6). */
  apiToken: accountSecret(),
  /** Assumed: how it is sent; the prefix comes directly before it, with its space. */
  tokenHeader: z
    .preprocess(plain, z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be the name of a header"))
    .default("Authorization"),
  tokenPrefix: z.preprocess(plain, z.string()).default("Bearer "),
  timeoutSeconds,
  /** Assumed: P1 §4.6 writes this path without a leading slash; with or without one, it follows `baseUrl`. */
  paths: z
    .strictObject({
      createOperator: z
        .preprocess(plain, z.string().regex(/^\/?[^/?#\s][^?#\s]*$/, "must be a path"))
        .default("api/v1/user/create/"),
    })
    .prefault({}),
  /** Assumed: the names that the id may have in the answer of each creation, in the order in which they count (P1 §2.11). */
  members: z
    .strictObject({
      operator: names("id"),
      template: names("id"),
      service: names("issuance_service_id", "id"),
      verificationTemplate: names("id"),
      verificationService: names("verification_service_id", "id"),
    })
    .prefault({}),
  /** Assumed: by which name a creation refers to what was created before (P1 §2.11). */
  sent: z
    .strictObject({
      template: text().default("credential_template"),
      operators: text().default("operators"),
      verificationTemplates: text().default("verification_templates"),
    })
    .refine(
      ({ operators, verificationTemplates }) => !isSameSpelling(operators, verificationTemplates),
      "must have different names for operators and verificationTemplates",
    )
    .prefault({}),
  /** Assumed: members of the answer of `init` that hold a secret, and are not kept (P1 §4.6). */
  secretMembers: list().default([
    "token",
    "access_token",
    "api_token",
    "apiKey",
    "secret",
    "password",
  ]),
});

export function accountOf(
  { timeoutSeconds: seconds, ...rest }: z.infer<typeof keys>,
  { name }: AccountSettings,
) {
  return { ...rest, name, timeoutMs: seconds * 1_000 };
}

export type CredentialWalletAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, apiToken: "sandbox-api-token" };
}
