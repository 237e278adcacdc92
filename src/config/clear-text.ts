// Finds addresses that would send credentials unencrypted; outside the sandbox each must be https, or TLS.
import { ConfigurationError } from "./errors.js";

export interface Addresses {
  environment?: string | undefined;
  accounts?: Record<string, object> | undefined;
  callbacks: { publicUrl?: string | undefined };
  sandbox: { url?: string | undefined };
  webhooks: Record<string, { url: string }>;
}

/** One problem for each key. A configuration without an environment sends no credentials: a worker refuses it. A relay takes it. */
export function credentialsInClear(given: Addresses): string[] {
  const { environment, callbacks, sandbox } = given;
  if (environment === "sandbox") return [];
  const ofWebhooks = Object.entries(given.webhooks).flatMap(([name, { url }]) =>
    isEncrypted(url)
      ? []
      : [`webhooks.${name}.url: must be https outside the sandbox: it tells of processes`],
  );
  if (environment === undefined) return ofWebhooks;
  const { publicUrl } = callbacks;
  // `trustflow dev` with accounts of a test environment: its own sandbox and receiver stay on this machine.
  const isOwn = (url: string) => environment === "preproduction" && isLoopback(url);
  const ofAccounts = baseUrls(given.accounts ?? {}).flatMap(({ key, url }) =>
    isEncrypted(url) || (isOwn(url) && isSameOrigin(url, sandbox.url))
      ? []
      : [`${key}: must be https in ${environment}: it carries credentials`],
  );
  if (publicUrl === undefined || isEncrypted(publicUrl) || isOwn(publicUrl))
    return [...ofWebhooks, ...ofAccounts];
  const ofCallbacks = `callbacks.publicUrl: must be https in ${environment}: a callback address is a capability`;
  return [...ofWebhooks, ...ofAccounts, ofCallbacks];
}

/**
 * Refuses a server of our own that would be reached without TLS; `host` is undefined where TLS proves it. This machine is never
 * refused. Without an environment a role may still serve a production.
 */
export function requireTls(
  given: { environment?: string | undefined; clearText: { hosts: readonly string[] } },
  setting: string,
  host: string | undefined,
): void {
  if (host === undefined || given.environment === "sandbox") return;
  if (isThisMachine(host) || given.clearText.hosts.includes(host)) return;
  throw new ConfigurationError([
    `${setting}: ${host} must be reached by TLS with its certificate checked, or clearText.hosts must name it`,
  ]);
}

/** Each key of an account that ends in `baseUrl`, whatever the provider. */
export function baseUrls(accounts: Record<string, object>): { key: string; url: string }[] {
  return Object.entries(accounts).flatMap(([account, providers]) =>
    Object.entries(providers as Record<string, object>).flatMap(([provider, keys]) =>
      Object.entries(keys).flatMap(([name, url]) =>
        /baseUrl$/i.test(name) && typeof url === "string"
          ? [{ key: `accounts.${account}.${provider}.${name}`, url }]
          : [],
      ),
    ),
  );
}

function isEncrypted(url: string): boolean {
  return new URL(url).protocol === "https:";
}

const isLoopback = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** Decides by the name only, because a name server's answer may change. */
function isThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1|\[::1\])$/.test(host);
}

export function isSameOrigin(url: string, other: string | undefined): boolean {
  return other !== undefined && new URL(url).origin === new URL(other).origin;
}
