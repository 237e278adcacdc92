// The postal API as a provider of the sandbox: its operations, and what the control API may do with its items.
import { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { Operation, SandboxProvider } from "../../exchange/operation.js";
import { keeping } from "../../exchange/kept.js";
import { describeItem } from "../evi/item.js";
import { authenticate } from "../evi/refuser.js";
import { itemOperations, splitList } from "./item-operations.js";
import { PostalService } from "./postal-service.js";
import type { PostalMagic } from "./postal-service.js";
import { queryItems } from "./query.js";
import { refusal, refuser } from "./refusal.js";
import { jsonAnswer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import { readEviMagic } from "../evi/magic.js";
import { submitOperation } from "../evi/submit.js";
import { endings, impossibleEnding } from "./lifecycle.js";
import type { Ending } from "./lifecycle.js";
import { checkSubmission } from "./submission.js";
import type { CheckedSubmission } from "./submission.js";

export function eviPost(parts: SandboxParts): SandboxProvider {
  const postal = new PostalService(parts);
  const tokens = new IdempotencyTokens();
  const { items } = postal;
  // Two requests for an affidavit may be meant; two letters for one intent are not.
  parts.ledger.allowRepeats("evi-post.affidavitRequest");

  const query: Operation = {
    name: "query",
    route: "GET /v1/EviPost/Query",
    describe(arrival) {
      const keys = splitList(arrival.query["WithLookupKeys"]);
      const named = splitList(arrival.query["WithUniqueIds"]).flatMap((id) => items.get(id) ?? []);
      const item = named[0] ?? items.withLookupKey(keys[0] ?? "")[0];
      const lookupKeys = new Set([...keys, ...named.flatMap((found) => found.lookupKeys)]);
      return { ...describeItem(item), lookupKeys: [...lookupKeys] };
    },
    perform(call) {
      for (const key of splitList(call.query["WithLookupKeys"])) tokens.lookedUp(key);
      return queryItems(call, items, parts);
    },
  };

  return {
    name: "evi-post",
    operations: [postalSubmit(parts, postal, tokens), query, ...itemOperations(postal)],
    hasCallbacks: true,
    alsoAt: (path) => (parts.options.unprefixedRoutes ? [path.replace(/^\/v1/, "")] : []),
    authenticate: (arrival) => authenticate(parts.accounts, arrival, refusal),
    refuse: (status, code, message) => refusal(status, String(code), message),
    ...postal.control(),
    kept: keeping({ items, tokens }),
  };
}

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

const postalSubmit = (
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
