// What a refusal means: the kind of the error, and what is known of its effect.
import { errorOf } from "./evi-post/account.js";
import { startProviderServer } from "./provider-server.js";
import type { Handler } from "./provider-server.js";

export const protocol = "protocol none";
export const refused = "invalidRequest none";
export const denied = "accessDenied none";
export const unknown = "unknownOutcome unknown";
export const away = "unavailable none";
export const limited = "rateLimited none";
export const lookUp = "unavailable unknown";
export const invisible = "notVisibleYet none";
export const inDoubt = "protocol unknown";
export const success = "success";

/** Meets a server that answers so, and none afterwards. */
export async function meeting<T>(handler: Handler, call: (url: string) => Promise<T>): Promise<T> {
  const server = await startProviderServer(handler);
  try {
    return await call(server.url);
  } finally {
    await server.close();
  }
}

/** The error that a call ends with at a server that answers so. */
export const errorAt = (handler: Handler, call: (url: string) => Promise<unknown>) =>
  meeting(handler, (url) => errorOf(call(url)));

export const meaningOf = ({ kind, effect }: { kind: string; effect: string }) =>
  `${kind} ${effect}`;
