// POST Submit of the postal API (P2 §4.1).
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import { jsonAnswer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import type { Operation } from "../../exchange/operation.js";
import { readEviMagic } from "../evi/magic.js";
import { submitOperation } from "../evi/submit.js";
import { endings, impossibleEnding, type Ending } from "./lifecycle.js";
import type { PostalMagic, PostalService } from "./postal-service.js";
import { refuser } from "./refusal.js";
import { checkSubmission, type CheckedSubmission } from "./submission.js";

type Fields = Record<string, unknown>;

const vocabulary = {
  provider: "evi-post",
  operations: ["submit", "query", "cancel", "affidavitRequest", "affidavitDownload", "callback"],
  endings,
  modifiers: ["unclosed"],
} as const;

function customFields(body: Fields): Fields[] {
  const fields = fieldsOf(body["Options"])["CustomFields"];
  return Array.isArray(fields) ? fields.filter(isObject) : [];
}

export const postalSubmit = (
  parts: SandboxParts,
  postal: PostalService,
  tokens: IdempotencyTokens,
): Operation =>
  submitOperation<CheckedSubmission, PostalMagic>(parts, tokens, refuser, {
    provider: "evi-post",
    route: "POST /v1/EviPost/Submit",
    callbackMember: "Options",
    magicMember: "RecipientName",
    contentMember: "Document",
    subject(body) {
      const { LookupKey } = body;
      const custom = customFields(body)
        .filter((field) => field["IsLookupKey"] === true)
        .map((field) => String(field["Value"]));
      if (typeof LookupKey !== "string") return { intent: null, lookupKeys: custom };
      return { intent: LookupKey, lookupKeys: [LookupKey, ...custom] };
    },
    /** In RecipientName, or in the value of a CustomFields entry whose Key is `sandbox`. */
    magicOf(body) {
      const values = customFields(body).filter((field) => field["Key"] === "sandbox");
      const texts = [body["RecipientName"], ...values.map((field) => field["Value"])];
      return readEviMagic<Ending, "unclosed">(texts, vocabulary);
    },
    check: (body, account) => checkSubmission(body, account, parts.options.maxDocumentBytes),
    impossible: (checked, { ending, modifiers }) =>
      impossibleEnding({ ...checked, ending, modifiers }),
    accept: (checked, _call, origin) =>
      jsonAnswer(200, { uniqueId: postal.accept(checked, origin).id }),
  });
