// Does at each of its two services what comes before the start of a child (docs/decisions/0031). A child is started without a client, so
// what a client does before a start is done here, before any effect: the check of the id, the documents, and the secrets, sealed for the
// child. The children's own activities do the rest.
import type { z } from "zod";
import { comparedInput, withSecrets } from "../../contracts/definition/secret-fields.js";
import { SendNoticeInput } from "../../contracts/send-notice/contract.js";
import { SendPostalInput } from "../../contracts/send-postal/contract.js";
import { ServeNoticeInput } from "../../contracts/serve-notice/contract.js";
import type { ServeSettings } from "../../contracts/serve-notice/contract.js";
import { serveChildren } from "../../contracts/serve-notice/states.js";
import { erasedProblem } from "../../contracts/shared/failures.js";
import {
  BUSINESS_ID_LENGTH,
  businessIdPattern,
  splitWorkflowId,
  workflowIdOf,
} from "../../contracts/shared/names.js";
import { contentOf } from "../../documents/content.js";
import type { Provider } from "../../providers/registry.js";
import { EviNoticeContext, provider as noticeProvider } from "../evi-notice/context.js";
import { EviPostContext, provider as postProvider } from "../evi-post/context.js";
import { checkAccountRules } from "../evi-post/submit.js";
import { activitiesOf } from "../runtime/activity.js";
import type { InputCall } from "../runtime/activity.js";
import { checkedReference } from "../runtime/documents.js";
import { InvalidInput } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { resolved } from "../runtime/provider-context.js";
import type { ProviderContext, ProviderDependencies, Place } from "../runtime/provider-context.js";

type ChildOf = (typeof serveChildren)[number];

/** The workflow starts a child with it. */
export interface PreparedChild<Input> extends Place {
  /** Its documents are references, and its secrets are sealed for the child. */
  input: Input;
  /** A process that is there already under the id has to have an input with the same digest. */
  digest: string;
}

/** `given` and `settings`: the part of the checked input that the child gets. */
export async function preparedChild<S extends z.ZodType<object>>(
  { deps, place, process: processKey }: ProviderContext<Provider>,
  contract: S,
  child: ChildOf,
  parts: { input: ServeNoticeInput; given: object; settings: object | undefined },
): Promise<PreparedChild<z.output<S>>> {
  const key = await childKey(deps, child, processKey);
  const input = {
    ...parts.given,
    ...(parts.input.account !== undefined && { account: parts.input.account }),
    ...(parts.settings && { settings: parts.settings }),
  };
  return {
    ...place,
    input: withSecrets(contract, input, (secret) => deps.secrets.seal(secret, key)) as z.output<S>,
    digest: deps.digests.of(comparedInput(contract, input, contentOf)),
  };
}

/** Refuses an id that leaves no room for the child's, and a child that was erased: its effects are no longer known. */
async function childKey(
  { documents }: ProviderContext<Provider>["deps"],
  { process: processName, suffix }: ChildOf,
  { namespace, workflowId }: ProviderContext<Provider>["process"],
): Promise<ProviderContext<Provider>["process"]> {
  const id = `${splitWorkflowId(workflowId)?.id}${suffix}`;
  if (!businessIdPattern.test(id))
    throw new InvalidInput([{ path: "id", problem: tooLongFor(suffix) }]);
  const key = { namespace, workflowId: workflowIdOf(processName, id) };
  if (await documents.dataKeys.isErased(key))
    throw new InvalidInput([{ path: "id", problem: erasedProblem }]);
  return key;
}

const tooLongFor = (suffix: string) =>
  `must have at most ${BUSINESS_ID_LENGTH - suffix.length} characters: ${suffix} is added to it`;

export interface PreparedNotice extends PreparedChild<SendNoticeInput> {
  /** Fixed for the run. */
  settings: ServeSettings;
  servedWhen: NonNullable<ServeNoticeInput["servedWhen"]>;
}

/** Throws `InvalidInput` where the notice could not be submitted. */
export async function prepareNotice(
  context: EviNoticeContext,
  given: InputCall,
): Promise<PreparedNotice> {
  const input = context.parse(ServeNoticeInput, given.input);
  const { notice, servedWhen = "read", settings = {} } = input;
  const attachments: NonNullable<SendNoticeInput["attachments"]> = [];
  for (const [index, attachment] of (notice.attachments ?? []).entries()) {
    const path = `notice.attachments.${index}.document`;
    const document = await checkedReference(context.deps, attachment.document, "submitted", path);
    attachments.push({ ...attachment, document });
  }
  const child = await preparedChild(context, SendNoticeInput, serveChildren[0], {
    input,
    given: { ...notice, ...(notice.attachments && { attachments }) },
    settings: settings.notice,
  });
  const { notice: _, post: __, ...rest } = settings;
  return { ...child, servedWhen, settings: resolved(context.deps.defaults.serveNotice, rest) };
}

/**
 * The last read before the post goes out (P2 §2.6, §2.7, §4.2 Get): what the process knows of the notice may be as old as its poll
 * interval.
 */
export async function readNotice(
  context: EviNoticeContext,
  { uniqueId }: { account: string; uniqueId: string; mode: AttemptMode },
): Promise<{ state: string; outcome?: string }> {
  const notice = await context.findNotice(uniqueId);
  if (!notice) throw context.problem("get", "the notice is not in the answer");
  const { state, outcome } = notice;
  return { state, ...(outcome !== undefined && { outcome }) };
}

export interface PreparedPost extends PreparedChild<SendPostalInput> {
  /** The post has it, from its submit on. */
  deadlineSeconds: number;
}

/**
 * Throws `InvalidInput` where the letter could not be submitted. It is checked before the notice goes out, so that a wrong letter is
 * refused today and not at the deadline (P2 §2.1–2.4).
 */
export async function preparePost(
  context: EviPostContext,
  given: InputCall,
): Promise<PreparedPost> {
  const input = context.parse(ServeNoticeInput, given.input);
  const { post, settings } = input;
  const { deps, process: processKey } = context;
  const children = serveChildren.map((child) => childKey(deps, child, processKey));
  await context.checkRules(
    () => checkAccountRules(post, context.account, "post."),
    await Promise.all(children),
  );
  const document = await checkedReference(deps, post.document, "submitted", "post.document");
  const child = await preparedChild(context, SendPostalInput, serveChildren[1], {
    input,
    given: { ...post, document },
    settings: settings?.post,
  });
  const { deadlineSeconds } = resolved(deps.defaults.sendPostal, settings?.post);
  return { ...child, deadlineSeconds };
}

export function createServeNoticeActivities(deps: ProviderDependencies<typeof noticeProvider>) {
  const activity = activitiesOf(noticeProvider, deps, EviNoticeContext);
  return {
    prepareNotice: activity("submit", prepareNotice),
    readNotice: activity("get", readNotice),
  };
}

export function createServePostActivities(deps: ProviderDependencies<typeof postProvider>) {
  const activity = activitiesOf(postProvider, deps, EviPostContext);
  return { preparePost: activity("submit", preparePost) };
}
