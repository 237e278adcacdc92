// Every endpoint of the one-shot signature service takes the token, and most the request's id in the path.
import { misuseError } from "../http/answer.js";
import { call as callHost, filledPath } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import { open } from "../http/described.js";
import type { Described } from "../http/described.js";
import { fileForm } from "../http/file-form.js";
import type { NamedFile } from "../http/file-form.js";
import type { OneShotSignatureAccount } from "./account.js";
import type { OneShotOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";
import { assumedMethods } from "./wire.js";
import type { AssumedOperation } from "./wire.js";

interface OneShotRequest extends Request {
  requestPk?: string;
  /** The request carries these in secret besides the token. */
  secrets?: readonly string[];
}

/** One HTTP call with the account's token; throws for what is no described answer. */
export async function call<T>(
  account: OneShotSignatureAccount,
  operation: OneShotOperation,
  { requestPk, secrets = [], ...request }: OneShotRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.token.reveal();
  const { path: template } = request;
  const path =
    requestPk === undefined
      ? template
      : filledPath(asking(operation), template, "request_pk", requestPk);
  const headers = { ...request.headers, [account.tokenHeader]: account.tokenPrefix + token };
  const sent = { credentials: [token], secrets };
  const whole = { ...request, path, headers, sent };
  return callHost(asking(operation), account, whole, described, (answer) =>
    refusal(operation, answer, account),
  );
}

export function oneFile(file: NamedFile, { sent }: OneShotSignatureAccount): Pick<Request, "form"> {
  return { form: fileForm(sent.file, [file]) };
}

/** Makes an operation on the documents or the video of a request; its answer brings nothing. */
export function writing<G>(
  operation: AssumedOperation,
  inputOf: (given: G, account: OneShotSignatureAccount) => Pick<Request, "json" | "form">,
) {
  return async (
    account: OneShotSignatureAccount,
    given: G & { requestPk: string },
    signal?: AbortSignal,
  ): Promise<void> => {
    const { requestPk } = given;
    const request = { ...routeOf(account, operation), ...inputOf(given, account), requestPk };
    await call(account, operation, { ...request, signal }, open);
  };
}

/** Method and path of an operation whose path is assumed. */
export function routeOf(
  account: OneShotSignatureAccount,
  operation: AssumedOperation,
): Pick<Request, "method" | "path"> {
  const path = account.paths[operation];
  if (path === undefined)
    throw misuseError(asking(operation), "no path is configured for this call");
  return { method: assumedMethods[operation], path };
}
