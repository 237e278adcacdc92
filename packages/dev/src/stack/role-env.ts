// The environment of each role of the stack: its own database access and only the secrets that it needs, as in a deployment.
import type { DatabaseRole } from "trustflow/internal/postgres/roles.js";
import type { RoleName } from "./role.js";

const key = (name: string): string => `TRUSTFLOW_KEYS__${name}`;

/** A worker has every key but those of the inbox and of an operator. */
const keysOf: Record<Exclude<RoleName, "worker">, string[]> = {
  sandbox: [],
  "codec-server": [key("CODEC"), key("CODEC_READ")],
  receiver: [key("CALLBACK"), key("INBOX_PUBLIC")],
  relay: [key("CODEC"), key("CODEC_WRITE"), key("CALLBACK"), key("INBOX"), key("SECRETS_PUBLIC")],
};

const databaseRoleOf: Partial<Record<RoleName, DatabaseRole>> = {
  receiver: "receiver",
  relay: "relay",
  worker: "worker",
};

export interface RoleEnvOptions {
  /** Of each database role; without it all have the URL of the environment. */
  databaseUrls?: Record<DatabaseRole, string>;
}

export function envOfRole(
  name: RoleName,
  env: Record<string, string>,
  { databaseUrls }: RoleEnvOptions,
): Record<string, string> {
  const databaseRole = databaseRoleOf[name];
  const isGiven = (variable: string): boolean => {
    if (variable === "DATABASE_URL") return databaseRole !== undefined;
    if (variable === "TRUSTFLOW_CODEC_SERVER__TOKEN") return name === "codec-server";
    if (variable.startsWith("TRUSTFLOW_ACCOUNTS__")) return name === "worker";
    if (variable.startsWith("TRUSTFLOW_WEBHOOKS__")) return name === "relay";
    if (!variable.startsWith(key(""))) return true;
    if (name === "worker") return !/^(INBOX|OPERATOR)/.test(variable.slice(key("").length));
    return keysOf[name].includes(variable);
  };
  const given = Object.fromEntries(Object.entries(env).filter(([variable]) => isGiven(variable)));
  if (databaseRole && databaseUrls) given["DATABASE_URL"] = databaseUrls[databaseRole];
  return given;
}
