// The submission as it leaves: the caller's input, our own key, and the process's callback settings (P2 §2.1–2.4, §6.1).
import type { SendPostalInput } from "../../contracts/send-postal/contract.js";
import { Secret } from "../../contracts/shared/values.js";
import type { PostalSubmission } from "../../providers/evi-post/client.js";
import { joinedKey } from "../evi/submit.js";

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
