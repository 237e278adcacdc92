// Makes the request of every endpoint of the notice API, fills ids into paths, and reads pages.
import { misuseError } from "../http/answer.js";
import { call as callHost, filledPath } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import { empty } from "../http/described.js";
import type { Described } from "../http/described.js";
import { ProviderError } from "../errors/provider-error.js";
import type { EviNoticeAccount } from "./account.js";
import type { NoticeOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";
import { limits, routes } from "./wire.js";
import type { Cursor } from "./wire.js";

interface NoticeRequest extends Request {
  /** Each replaces its `{name}` in the path. */
  ids?: Readonly<Record<string, string>>;
  /** The body may hold secrets that are not listed: an error shows nothing of the answer. */
  isSecret?: boolean;
}

/** All operations accept these (P2 §4.2, §4.3, §7.2): a provider may answer 406 for a type that is not accepted. */
const answerTypes = [
  "application/json",
  "application/problem+json",
  "application/zip",
  "application/pdf",
  "application/octet-stream",
];

/** One HTTP call with the credentials of the account; throws for what is no described answer. */
export async function call<T>(
  account: EviNoticeAccount,
  operation: NoticeOperation,
  { ids = {}, isSecret = false, ...request }: NoticeRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const asked = asking(operation);
  let { path } = request;
  for (const [name, id] of Object.entries(ids)) path = filledPath(asked, path, name, id);
  const accept = answerTypes.join(", ");
  const headers = { accept, ...request.headers };
  return callHost(
    asked,
    account,
    { ...request, path, headers, basic: account },
    { ...described, ...(isSecret && { isSecret }) },
    (answer) => refusal(operation, isSecret ? { ...answer, body: Buffer.alloc(0) } : answer),
  );
}

/** Makes an operation on one batch: what it sends, the described answer, and what the answer brings. */
export function onBatch<G, T, R>(
  operation: NoticeOperation,
  inputOf: (given: G) => Omit<NoticeRequest, "method" | "path">,
  describedTo: (account: EviNoticeAccount, given: { batchId: string }) => Described<T>,
  resultOf: (value: T) => R,
) {
  return async (
    account: EviNoticeAccount,
    given: G & { batchId: string },
    signal?: AbortSignal,
  ): Promise<R> => {
    const { ids, ...input } = inputOf(given);
    const request = { ...routes[operation], ids: { BatchId: given.batchId, ...ids } };
    const described = describedTo(account, given);
    const { value } = await call(account, operation, { ...request, ...input, signal }, described);
    return resultOf(value);
  };
}

/** Makes a deletion in a batch. 404 is success, as its answer may be that of a second try: what is not there is gone. */
export function deletion<G>(
  operation: NoticeOperation,
  idsOf: (given: G) => Record<string, string> = () => ({}),
) {
  const remove = onBatch(
    operation,
    (given: G) => ({ ids: idsOf(given) }),
    () => empty,
    nothing,
  );
  return async (...given: Parameters<typeof remove>): Promise<void> => {
    try {
      await remove(...given);
    } catch (error) {
      if (!(error instanceof ProviderError && error.status === 404)) throw error;
    }
  };
}

export const nothing = (): void => undefined;

/** One page of a query with a cursor (P2 §4.2, §4.3). */
export interface Page<T> {
  results: T[];
  /** To be passed back for the next page; absent on the last one. */
  cursor?: Cursor;
}

export function page<R, T>(
  { Cursor, Results }: { Cursor?: Cursor | undefined; Results: R[] },
  read: (result: R) => T,
): Page<T> {
  return { results: Results.map((one) => read(one)), ...(Cursor && { cursor: Cursor }) };
}

/** Throws ProviderError `protocol` where the specification does not allow the limit: nothing was sent. */
export function checkLimit(
  operation: "query" | "queryBatches" | "queryRecipients",
  limit: number | undefined,
): void {
  const { least, most } = limits[operation];
  if (limit === undefined || (Number.isInteger(limit) && limit >= least && limit <= most)) return;
  throw misuseError(asking(operation), `the limit must be ${least} to ${most}`);
}
