// The events of the providers that post to a URL of the account.
import type { SandboxParts } from "../engine/parts.js";

const MINUTE = 60_000;
/** The specification shows no retries of these events (P1 §6.1, 6.2): these are the sandbox's own. */
const retryDelaysMs = [MINUTE, 5 * MINUTE, 15 * MINUTE];

interface Subject {
  id: string;
  intent: string | null;
  account: string;
  magicKey?: string;
}

/** Posts nothing where the account has no URL. */
export function postEvent(
  { callbacks, ids }: SandboxParts,
  { id: itemId, intent, account, magicKey }: Subject,
  event: { provider: string; kind: string; url: string | undefined; body: object; at: number },
): void {
  const { provider, kind, url, body, at } = event;
  if (url === undefined) return;
  const identifier = ids.uuid(`${provider}.event`);
  const lookupKeys = intent === null ? [] : [intent];
  callbacks.emit(
    {
      ...{ provider, identifier, kind, itemId, intent, lookupKeys, account, magicKey, url },
      body: JSON.stringify(body),
      retryDelaysMs,
    },
    at,
  );
}
