// The first activity of `sendPostal`: validates, stores an inline document, submits once (P2 §2.1–2.4, §4.1 Submit).
import { contentOf } from "../../documents/content.js";
import { comparedInput } from "../../contracts/shared/compared-input.js";
import { SendPostalInput } from "../../contracts/send-postal.js";
import type { PostalSettings } from "../../contracts/send-postal.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { execution } from "../runtime/effect.js";
import { InvalidInput } from "../runtime/failure.js";
import { ownedDocument, readDocument, referenceOf } from "../runtime/input.js";
import { accountIn, resolved } from "../runtime/provider-context.js";
import type { Attempt } from "../runtime/provider-context.js";
import { eviPost, provider } from "./context.js";
import type { AttemptAccount, PostalAccount, PostOffice } from "./context.js";
import { submissionOf } from "./submission.js";

export interface PostalSubmitted {
  uniqueId: string;
  environment: string;
  account: string;
  /** Fixed for the run. */
  settings: PostalSettings;
  postServiceType: string;
  affidavitsOnDemand: boolean;
  document: DocumentReference;
  submittedAt: string;
}

export interface PostalSubmit extends Attempt {
  /** As it came: a plain Temporal client's input is parsed here for the first time. */
  input: unknown;
}

export function submit(office: PostOffice, given: PostalSubmit): Promise<PostalSubmitted> {
  const { effect, mode } = given;
  const name = accountIn(given.input);
  return office.run("submit", name, mode, async (account) => {
    const { environment, documents, settings } = office.has;
    const input = office.parse(SendPostalInput, given.input);
    checkAccountRules(input, account);
    const process = execution();
    const document = await referenceOf(office.has, input.document, "submitted");
    const callback = office.has.callback({ provider, ...process });
    const { uniqueId } = await office.effect(
      account,
      {
        reference: effect,
        operation: "submit",
        input: comparedInput(SendPostalInput, input, contentOf),
        documents: [ownedDocument(document, "submitted")],
        mode,
      },
      {
        closed: () => office.closed(account, "submit"),
        send: async ({ token, idempotencyToken, signal }) => {
          const pdf = await readDocument(documents, document, "document");
          const submission = submissionOf(input, pdf, token, callback, account);
          const send = () => eviPost.submit(account, submission, idempotencyToken, signal);
          return office
            .reach(account, "submit", send)
            .catch((error) => adoptShown(office, account, error));
        },
        lookUp: async (token) => {
          const item = await office.itemByOwnKey(account, token);
          return item && { uniqueId: item.evidenceId };
        },
        assumed: {
          form: keyForm(input, account),
          isByToken: true,
          sampleOf: (token) => token,
          find: async (token) => {
            const item = await office.itemByOwnKey(account, token);
            return item && (item.lookupKey === token ? "alone" : "joined");
          },
        },
      },
    );
    return {
      uniqueId,
      environment,
      account: name,
      settings: resolved(settings, input.settings),
      postServiceType: input.options?.postServiceType ?? "Registered",
      affidavitsOnDemand: input.options?.affidavitsOnDemandEnabled === true,
      document,
      submittedAt: new Date().toISOString(),
    };
  });
}

/** Whether our own key is the item's whole lookup key, or one of several that the provider joins (P2 §2.4). */
function keyForm({ lookupKey, options }: SendPostalInput, account: PostalAccount): string {
  const others = options?.customFields?.some(({ isLookupKey }) => isLookupKey === true);
  return lookupKey || others || account.ownKeyInLookupKey ? "joined" : "alone";
}

/** A 2xx that cannot be read but shows an id: where that exists, it is ours (docs/design.md §5). */
async function adoptShown(office: PostOffice, account: AttemptAccount, error: unknown) {
  const uniqueId = error instanceof ProviderError ? error.reference : undefined;
  if (uniqueId === undefined) throw error;
  const item = await office.findItem(account, uniqueId).catch(() => undefined);
  if (!item) throw error;
  return { uniqueId };
}

/** The rule of P2 §2.2 that needs the account's configuration. */
function checkAccountRules(input: SendPostalInput, account: PostalAccount): void {
  const registered = (input.options?.postServiceType ?? "Registered") === "Registered";
  if (registered && input.issuerAddress?.region === undefined && !account.siteHasRegion) {
    throw new InvalidInput([
      {
        path: "issuerAddress.region",
        problem: "is required for Registered: the site of this account has no region (P2 §2.2)",
      },
    ]);
  }
}
