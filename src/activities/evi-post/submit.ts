// The first activity of `sendPostal` validates, stores an inline document, and submits once (P2 §2.1–2.4, §4.1 Submit).
import * as eviPost from "../../providers/evi-post/client.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { SendPostalInput } from "../../contracts/send-postal/contract.js";
import type { PostalSettings } from "../../contracts/send-postal/contract.js";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import { Secret } from "../../contracts/shared/values.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { contentOf } from "../../documents/content.js";
import type { EviPostAccount, PostalSubmission } from "../../providers/evi-post/client.js";
import { joinedKey, submitOnce } from "../evi/submit.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { ownedDocument, readDocument, documentReference } from "../runtime/documents.js";
import { InvalidInput } from "../runtime/failure.js";
import { resolved } from "../runtime/provider-context.js";
import { provider } from "./context.js";
import type { EviPostContext } from "./context.js";
import type { Place } from "../runtime/provider-context.js";

export interface PostalSubmitted extends Place {
  uniqueId: string;
  /** Fixed for the run. */
  settings: PostalSettings;
  postServiceType: string;
  affidavitsOnDemand: boolean;
  document: DocumentReference;
  submittedAt: string;
}

export async function submit(
  context: EviPostContext,
  given: StepCall & InputCall,
): Promise<PostalSubmitted> {
  const { account, deps, process: processKey } = context;
  const input = context.parse(SendPostalInput, given.input);
  await context.checkRules(() => checkAccountRules(input, account));
  const document = await documentReference(deps, input.document, "submitted");
  const callback = deps.callback({ provider, ...processKey });
  const { uniqueId } = await submitOnce(context, given.effect, {
    operation: "submit",
    input: comparedInput(SendPostalInput, input, contentOf),
    documents: [ownedDocument(document, "submitted")],
    prepare: () => readDocument(deps.documents, document, "document"),
    send: ({ prepared: pdf, token, idempotencyToken, signal }) => {
      const submission = submissionOf(input, pdf, token, callback, account);
      return eviPost.submit(account, submission, idempotencyToken, signal);
    },
    find: (id) => context.findItem(id),
    findByOwnKey: (key) => context.itemByOwnKey(key),
    form: keyForm(input, account),
  });
  return {
    uniqueId,
    ...context.place,
    settings: resolved(deps.defaults.sendPostal, input.settings),
    postServiceType: input.options?.postServiceType ?? "Registered",
    affidavitsOnDemand: input.options?.affidavitsOnDemandEnabled === true,
    document,
    submittedAt: new Date().toISOString(),
  };
}

/** Whether our own key is the item's whole lookup key, or one of several that the provider joins (P2 §2.4). */
function keyForm(
  { lookupKey, options }: SendPostalInput,
  account: EviPostAccount,
): "alone" | "joined" {
  const others = options?.customFields?.some(({ isLookupKey }) => isLookupKey === true);
  return lookupKey || others || account.ownKeyInLookupKey ? "joined" : "alone";
}

/** The rules of P2 §2.2 and §8 that need the account's configuration. `under` is put before each path. */
export function checkAccountRules(
  input: SendPostalInput,
  account: EviPostAccount,
  under = "",
): void {
  const problems: FieldProblem[] = [];
  const { destinationCountries: countries, siteHasRegion } = account;
  if (!countries.includes(input.recipientAddress.country))
    problems.push({
      path: `${under}recipientAddress.country`,
      problem: `must be ${countries.join(" or ")}: the account delivers nowhere else (P2 §8)`,
    });
  const registered = (input.options?.postServiceType ?? "Registered") === "Registered";
  if (registered && input.issuerAddress?.region === undefined && !siteHasRegion)
    problems.push({
      path: `${under}issuerAddress.region`,
      problem: "is required for Registered: the site of this account has no region (P2 §2.2)",
    });
  if (problems.length > 0) throw new InvalidInput(problems);
}

/** Complete for the service, because an omitted filter means no callback at all (P2 §2.3, §6.2). */
export const postalFilter = [
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Closed",
  "Cancelled",
  "Issued",
  "Disposed",
  "AffidavitPublished",
];

export function submissionOf(
  input: SendPostalInput,
  document: Buffer,
  ownKey: string,
  callback: { url: string; correlation: string },
  account: { ownKeyInLookupKey: boolean },
): PostalSubmission {
  const { account: _account, settings: _settings, document: _document, ...fields } = input;
  const { evidenceAccessControlChallengeResponse: response, ...options } = input.options ?? {};
  const lookupKey = account.ownKeyInLookupKey
    ? joinedKey(input.lookupKey, ownKey)
    : input.lookupKey;
  return {
    ...fields,
    document,
    lookupKey,
    options: {
      ...options,
      evidenceAccessControlChallengeResponse:
        response === undefined ? undefined : new Secret(response),
      customFields: [
        ...(options.customFields ?? []),
        { key: "trustflow", label: "Trustflow", value: ownKey, isLookupKey: true },
      ],
      pushNotificationUrl: callback.url,
      pushNotificationFilter: postalFilter,
      pushNotificationExtraData: callback.correlation,
    },
  };
}
