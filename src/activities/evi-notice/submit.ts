// The first activity of `sendNotice` validates, stores inline attachments, and submits once (P2 §2.6, §4.2 Submit).
import * as eviNotice from "../../providers/evi-notice/client.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { SendNoticeInput } from "../../contracts/send-notice/contract.js";
import type { NoticeSettings } from "../../contracts/send-notice/contract.js";
import { Secret } from "../../contracts/shared/values.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { contentOf } from "../../documents/content.js";
import type { NoticeSubmission } from "../../providers/evi-notice/client.js";
import { joinedKey, submitOnce } from "../evi/submit.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { ownedDocument, readDocument, documentReference } from "../runtime/documents.js";
import { resolved } from "../runtime/provider-context.js";
import { provider } from "./context.js";
import type { EviNoticeContext } from "./context.js";
import type { Place } from "../runtime/provider-context.js";

export interface NoticeSubmitted extends Place {
  /** P2 §4.2 `Id`. */
  uniqueId: string;
  /** Fixed for the run. */
  settings: NoticeSettings;
  affidavitsOnDemand: boolean;
  attachments: SentAttachment[];
  submittedAt: string;
}

export async function submit(
  context: EviNoticeContext,
  given: StepCall & InputCall,
): Promise<NoticeSubmitted> {
  const { account, deps, process: processKey } = context;
  const input = context.parse(SendNoticeInput, given.input);
  const attachments: SentAttachment[] = [];
  for (const { fileName, document } of input.attachments ?? [])
    attachments.push({ fileName, document: await documentReference(deps, document, "submitted") });
  const callback = deps.callback({ provider, ...processKey });
  const { uniqueId } = await submitOnce(context, given.effect, {
    operation: "submit",
    input: comparedInput(SendNoticeInput, input, contentOf),
    documents: attachments.map(({ document }) => ownedDocument(document, "submitted")),
    prepare: () =>
      Promise.all(
        attachments.map(({ document }, index) =>
          readDocument(deps.documents, document, `attachments.${index}.document`),
        ),
      ),
    async send({ prepared: files, token, idempotencyToken, signal }) {
      const submission = submissionOf(input, files, token, callback);
      const { id } = await eviNotice.submit(account, submission, idempotencyToken, signal);
      return { uniqueId: id };
    },
    find: (id) => context.findNotice(id),
    wholeKeyOf: (ownKey) => joinedKey(input.lookupKey, ownKey),
    findByOwnKey: (key) => context.noticeByOwnKey(key),
    form: input.lookupKey === undefined ? "alone" : "joined",
  });
  return {
    uniqueId,
    ...context.place,
    settings: settingsOf(deps.defaults.sendNotice, input),
    affidavitsOnDemand: input.affidavitKinds?.includes("OnDemand") ?? false,
    attachments,
    submittedAt: new Date().toISOString(),
  };
}

/** The deadline is the caller's, else the end of `timeToLive` with a margin, else the configured one. */
export function settingsOf<S extends NoticeSettings>(
  configured: S,
  {
    settings,
    timeToLive,
  }: {
    settings?: { [name in keyof S]?: S[name] | undefined } | undefined;
    timeToLive?: number | undefined;
  },
): S {
  const chosen = resolved(configured, settings);
  if (settings?.deadlineSeconds !== undefined || timeToLive === undefined) return chosen;
  return { ...chosen, deadlineSeconds: timeToLive * 60 + chosen.deadlineMarginSeconds };
}

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
