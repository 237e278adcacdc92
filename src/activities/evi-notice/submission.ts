// The submission as it leaves: the caller's input, our own key, and the process's callback settings (P2 §2.6, §6.1).
import type { SendNoticeInput } from "../../contracts/send-notice/contract.js";
import { Secret } from "../../contracts/shared/values.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { NoticeSubmission } from "../../providers/evi-notice/client.js";
import { joinedKey } from "../evi/submit.js";

/** Complete for the service, because an omitted filter means no callback at all (P2 §2.6, §6.2). */
export const noticeFilter = [
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Received",
  "Read",
  "Replied",
  "Failed",
  "Closed",
  "AffidavitPublished",
];

export interface SentAttachment {
  fileName: string;
  document: DocumentReference;
}

/** `files`: the contents of the attachments, in their order. */
export function submissionOf(
  input: SendNoticeInput,
  files: Buffer[],
  ownKey: string,
  callback: { url: string; correlation: string },
): NoticeSubmission {
  const { account: _account, settings: _settings, attachments, ...fields } = input;
  const { evidenceAccessControlChallengeResponse: response } = fields;
  return {
    ...fields,
    lookupKey: joinedKey(input.lookupKey, ownKey),
    evidenceAccessControlChallengeResponse:
      response === undefined ? undefined : new Secret(response),
    attachments: attachments?.map(({ document, ...attachment }, index) => ({
      ...attachment,
      mimeType: document.mediaType,
      bytes: files[index] ?? Buffer.alloc(0),
    })),
    pushNotificationUrl: callback.url,
    pushNotificationFilter: noticeFilter,
    pushNotificationExtraData: callback.correlation,
  };
}
