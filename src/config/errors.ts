// An error of a configuration names its key.
import { ConfigurationError } from "../errors/index.js";

export { ConfigurationError } from "../errors/index.js";

/** Where the value comes from. */
const hints: Record<string, string> = {
  "database.url": '. With "trustflow dev", source ".trustflow/operator.env"',
  "keys.codec": '. With "trustflow dev", source ".trustflow/client.env"',
  "keys.inbox": ': generate it with "trustflow keys generate"',
  "keys.inboxPublic": ': derive it from keys.inbox with "trustflow keys public"',
};

export function isRequired(key: string): ConfigurationError {
  const name = key === "database.url" ? "DATABASE_URL" : environmentName(key);
  const hint = hints[key] ?? "";
  return new ConfigurationError([`${key} is required (environment: ${name})${hint}`]);
}

/** `accounts.default.evi-post.baseUrl` is `TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL`. */
export function environmentName(key: string): string {
  const segments = key
    .split(".")
    .map((part) => part.replaceAll("-", "_").replaceAll(/([A-Z])/g, "_$1"));
  return `TRUSTFLOW_${segments.join("__")}`.toUpperCase();
}
