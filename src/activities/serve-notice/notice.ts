// The activities of `serveNotice` at the notification service: the notice's input before it starts, and the last read before the post
// goes out (P2 §2.6, §2.7, §4.2 Get).
import { SendNoticeInput } from "../../contracts/send-notice/contract.js";
import { ServeNoticeInput } from "../../contracts/serve-notice/contract.js";
import type { ServeSettings } from "../../contracts/serve-notice/contract.js";
import { serveChildren } from "../../contracts/serve-notice/states.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { EviNoticeContext } from "../evi-notice/context.js";
import type { EviNoticeDependencies } from "../evi-notice/context.js";
import { checkedReferenceOf } from "../runtime/documents.js";
import type { AttemptMode } from "../runtime/failure.js";
import { resolved } from "../runtime/provider-context.js";
import { preparedChild } from "./child-input.js";
import type { Prepare, PreparedChild } from "./child-input.js";

export type ServeNoticeDependencies = EviNoticeDependencies & {
  defaults: { serveNotice: ServeSettings };
};

export class ServeNoticeContext extends EviNoticeContext<ServeNoticeDependencies> {}

export interface PreparedNotice extends PreparedChild<SendNoticeInput> {
  /** Fixed for the run. */
  settings: ServeSettings;
  servedWhen: NonNullable<ServeNoticeInput["servedWhen"]>;
}

/** Throws `InvalidInput` where the notice could not be submitted. */
export async function prepareNotice(
  context: ServeNoticeContext,
  given: Prepare,
): Promise<PreparedNotice> {
  const input = context.parse(ServeNoticeInput, given.input);
  const { notice, servedWhen = "read", settings = {} } = input;
  const attachments: NonNullable<SendNoticeInput["attachments"]> = [];
  for (const [index, attachment] of (notice.attachments ?? []).entries()) {
    const path = `notice.attachments.${index}.document`;
    const document = await checkedReferenceOf(context.deps, attachment.document, "submitted", path);
    attachments.push({ ...attachment, document });
  }
  const child = await preparedChild(context, SendNoticeInput, serveChildren[0], {
    input,
    given: { ...notice, ...(notice.attachments && { attachments }) },
    settings: settings.notice,
  });
  const { notice: _, post: __, ...own } = settings;
  return { ...child, servedWhen, settings: resolved(context.deps.defaults.serveNotice, own) };
}

export interface ReadNotice {
  account: string;
  uniqueId: string;
  mode: AttemptMode;
}

/** As the provider shows it now: what the process knows of it may be as old as its poll interval. */
export async function readNotice(
  context: ServeNoticeContext,
  { uniqueId }: ReadNotice,
): Promise<{ state: string; outcome?: string }> {
  const notice = await context.findNotice(uniqueId);
  if (!notice)
    throw new ProviderError({
      kind: "protocol",
      provider: context.provider,
      operation: "get",
      effect: "none",
      problem: "the notice is not in the answer",
    });
  const { state, outcome } = notice;
  return { state, ...(outcome !== undefined && { outcome }) };
}
