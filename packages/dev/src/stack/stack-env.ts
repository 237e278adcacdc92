// The configuration of a local stack, as the environment of its roles and of its clients.
import { join } from "node:path";
import { KeyRing } from "trustflow/internal/crypto/key-ring.js";
import { publicRingOf } from "trustflow/internal/crypto/sealed-box.js";
import { sandboxAccountName } from "./own-configuration.js";
import type { OwnConfiguration } from "./own-configuration.js";
import { sandboxAccount } from "./sandbox-accounts.js";
import type { StackState } from "./stack-state.js";
import type { DatabaseRole } from "trustflow/internal/postgres/roles.js";
import type { RoleName } from "./role.js";

export interface StackEnvOptions {
  directory: string;
  databaseUrl: string;
  /** trustflow.toml; without one, an empty file stands in, so that none from elsewhere is read. */
  config?: string;
  /** What stands in it. */
  own?: OwnConfiguration;
  env?: Record<string, string>;
}

const HOST = "127.0.0.1";
const url = (port: number): string => `http://${HOST}:${port}`;

/** Where the stack's sandbox keeps the files of mutual TLS. */
export const sandboxPki = (directory: string) => join(directory, "pki");

/** Everything Trustflow or Temporal would read from the environment, and nothing else. */
export function stackEnv(state: StackState, options: StackEnvOptions): Record<string, string> {
  const { ports, keys } = state;
  const { environment = "sandbox", keys: ownKeys = [] } = options.own ?? {};
  return {
    ...clientEnv(state, options.directory),
    ...(options.config !== undefined && { TRUSTFLOW_CONFIG: options.config }),
    TRUSTFLOW_ENVIRONMENT: environment,
    DATABASE_URL: options.databaseUrl,
    TRUSTFLOW_KEYS__SECRETS: keys.secrets,
    TRUSTFLOW_KEYS__CALLBACK: keys.callback,
    TRUSTFLOW_KEYS__JOURNAL: keys.journal,
    TRUSTFLOW_KEYS__INBOX: keys.inbox,
    TRUSTFLOW_KEYS__INBOX_PUBLIC: publicRingOf(KeyRing.parse(keys.inbox)),
    // Under an address of one's own, a provider outside this machine may reach the receiver.
    ...(!ownKeys.includes("callbacks.publicUrl") && {
      TRUSTFLOW_CALLBACKS__PUBLIC_URL: url(ports.receiver),
    }),
    TRUSTFLOW_RECEIVER__HOST: HOST,
    TRUSTFLOW_RECEIVER__PORT: String(ports.receiver),
    TRUSTFLOW_RELAY__HEALTH_PORT: String(ports.relayHealth),
    TRUSTFLOW_WORKER__HEALTH_PORT: String(ports.workerHealth),
    TRUSTFLOW_CODEC_SERVER__HOST: HOST,
    TRUSTFLOW_CODEC_SERVER__PORT: String(ports.codecServer),
    TRUSTFLOW_CODEC_SERVER__TOKEN: state.codecToken,
    TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: url(ports.temporalUi),
    ...sandboxAccount(sandboxAccountName(options.own), {
      url: url(ports.sandbox),
      tlsUrl: `https://${HOST}:${ports.sandboxTls}`,
      pkiDirectory: sandboxPki(options.directory),
    }),
    ...options.env,
  };
}

/** What a client needs, the commands that start, show and control processes among them: no database, no account. */
export function clientEnv({ ports, keys }: StackState, directory: string): Record<string, string> {
  return {
    TRUSTFLOW_CONFIG: join(directory, "trustflow.toml"),
    TRUSTFLOW_KEYS__CODEC: keys.codec,
    TRUSTFLOW_KEYS__CODEC_WRITE: keys.codecWrite,
    TRUSTFLOW_KEYS__SECRETS_PUBLIC: publicRingOf(KeyRing.parse(keys.secrets)),
    TRUSTFLOW_KEYS__DOCUMENTS: keys.documents,
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(directory, "documents"),
    TRUSTFLOW_SANDBOX__URL: url(ports.sandbox),
    TEMPORAL_ADDRESS: `${HOST}:${ports.temporal}`,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_CONFIG_FILE: join(directory, "temporal.toml"),
  };
}

/** This process's environment without what would leak into the stack. */
export function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(TRUSTFLOW_|TEMPORAL_|DATABASE_URL$|NODE_OPTIONS$)/.test(name),
    ),
  );
}

// The environment of each role of the stack: its own database access and only the secrets that it needs, as in a deployment.

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

/** `databaseUrls`: of each database role; without them all have the URL of the environment. */
export function envOfRole(
  name: RoleName,
  env: Record<string, string>,
  databaseUrls?: Record<DatabaseRole, string>,
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
