// Every endpoint of the credential wallet takes the token, and some an id in the path.
import { call as callHost } from "../http/call.js";
import type { Answered } from "../http/call.js";
import type { Described } from "../http/described.js";
import { filledPath } from "../http/path-part.js";
import type { CredentialWalletAccount } from "./account.js";
import type { WalletOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";
import { paths } from "./wire.js";

/** Every operation takes these, beside the ids that it refers to. */
export interface WalletRequest {
  /** The caller's own members; they are sent as they are. */
  fields: Record<string, unknown>;
  /** An earlier effect of the process exists: a 400 is `protocol`. */
  isLater?: boolean | undefined;
}

interface SentRequest {
  json: Record<string, unknown>;
  isLater?: boolean | undefined;
  /** The id that stands in the path, and its name there. */
  inPath?: { name: string; id: string };
  signal?: AbortSignal | undefined;
}

/** One HTTP call with the account's token; throws for what is no described answer. */
export async function call<T>(
  account: CredentialWalletAccount,
  operation: WalletOperation,
  { isLater = false, inPath, json, signal }: SentRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.apiToken.reveal();
  const headers = { [account.tokenHeader]: account.tokenPrefix + token };
  const path = pathOf(account, operation, inPath);
  const sent = { credentials: [token] };
  const request = { method: "POST", path, headers, json, sent, signal } as const;
  return callHost(asking(operation), account, request, described, (answer) =>
    refusal(operation, answer, isLater),
  );
}

/** Its trailing slash is part of it (P1 §4.6); a leading one is added where it has none. */
function pathOf(
  account: CredentialWalletAccount,
  operation: WalletOperation,
  inPath: SentRequest["inPath"],
): string {
  const shown = { ...paths, ...account.paths }[operation];
  const path = shown.startsWith("/") ? shown : `/${shown}`;
  return inPath ? filledPath(asking(operation), path, inPath.name, inPath.id) : path;
}
