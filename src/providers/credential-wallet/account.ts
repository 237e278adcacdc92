// An account of the credential wallet: its keys in the configuration, and the account as the client takes it (P1 §4.6, §5.6).
import { z } from "zod";
import { names, sentAs, timeoutSeconds, tokenKeys } from "../../config/account-fields.js";
import { accountSecret, baseUrl, list, matching, section } from "../../config/fields.js";
import { isSameSpelling } from "../../contracts/shared/values.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  apiToken: accountSecret().describe("secret; of the API Operator (P1 §5.6)"),
  ...tokenKeys("Bearer "),
  timeoutSeconds,
  /** Assumed: P1 §4.6 writes this path without a leading slash; with or without one, it follows `baseUrl`. */
  paths: section({
    createOperator: matching(/^\/?[^/?#\s][^?#\s]*$/, "must be a path")
      .default("api/v1/user/create/")
      .describe(
        "assumed: P1 §4.6 writes it without a leading slash; with or without one it follows `baseUrl`",
      ),
  }),
  /** Assumed: the names that the id may have in the answer of each creation, in the order in which they count (P1 §2.11). */
  members: section({
    operator: names("id").describe(
      "list; assumed: the names that the id may have in the answer of a creation (P1 §2.11)",
    ),
    template: names("id").describe("list; assumed; of a credential template"),
    service: names("issuance_service_id", "id").describe("list; assumed; of an issuance service"),
    verificationTemplate: names("id").describe("list; assumed; of a verification template"),
    verificationService: names("verification_service_id", "id").describe(
      "list; assumed; of a presentation service",
    ),
  }),
  /** Assumed: by which name a creation refers to what was created before (P1 §2.11). */
  sent: z
    .strictObject({
      template: sentAs(
        "credential_template",
        "by which member a service or a verification template names its credential template",
      ),
      operators: sentAs("operators"),
      verificationTemplates: sentAs(
        "verification_templates",
        "by which member a service lists its verification templates",
      ),
    })
    .refine(
      ({ operators, verificationTemplates }) => !isSameSpelling(operators, verificationTemplates),
      "must have different names for operators and verificationTemplates",
    )
    .prefault({}),
  secretMembers: list()
    .default(["token", "access_token", "api_token", "apiKey", "secret", "password"])
    .describe("list; assumed: members of the answer of an `init` that are not kept"),
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
