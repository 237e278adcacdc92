// The activity of `serveNotice` at the postal service: the letter's input is checked before the notice goes out, so that a wrong letter
// is refused today and not at the deadline (P2 §2.1–2.4).
import { SendPostalInput } from "../../contracts/send-postal/contract.js";
import { ServeNoticeInput } from "../../contracts/serve-notice/contract.js";
import { serveChildren } from "../../contracts/serve-notice/states.js";
import type { EviPostContext } from "../evi-post/context.js";
import { checkAccountRules } from "../evi-post/submit.js";
import { checkedReferenceOf } from "../runtime/documents.js";
import { resolved } from "../runtime/provider-context.js";
import { inPart, preparedChild } from "./child-input.js";
import type { Prepare, PreparedChild } from "./child-input.js";

export interface PreparedPost extends PreparedChild<SendPostalInput> {
  /** Of the post, from its submit on. */
  deadlineSeconds: number;
}

/** Throws `InvalidInput` where the letter could not be submitted. */
export async function preparePost(context: EviPostContext, given: Prepare): Promise<PreparedPost> {
  const input = context.parse(ServeNoticeInput, given.input);
  const { post, settings } = input;
  await inPart("post", () => checkAccountRules(post, context.account));
  const document = await checkedReferenceOf(
    context.deps,
    post.document,
    "submitted",
    "post.document",
  );
  const child = await preparedChild(context, SendPostalInput, serveChildren[1], {
    input,
    given: { ...post, document },
    settings: settings?.post,
  });
  const { deadlineSeconds } = resolved(context.deps.defaults.sendPostal, settings?.post);
  return { ...child, deadlineSeconds };
}
