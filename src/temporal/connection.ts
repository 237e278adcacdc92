// The only file that connects to Temporal: address, namespace, TLS and API key come from temporal.toml and TEMPORAL_*
// variables, and each connection has its namespace.
import { Client, Connection } from "@temporalio/client";
import type { ClientOptions, ConnectionLike, ConnectionOptions } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { KeyRing } from "../crypto/key-ring.js";
import { hostAndPort } from "./address.js";
import { dataConverter } from "./codec/data-converter.js";

const DEFAULT_ADDRESS = "localhost:7233";
const DEFAULT_NAMESPACE = "default";
const CONNECT_TIMEOUT = "5 s";
const ANSWER_MS = 2_000;

export class TemporalUnreachable extends Error {
  override readonly name = "TemporalUnreachable";
  readonly address: string;

  constructor(address: string, reason: string) {
    super(`Cannot reach Temporal at ${address}: ${reason}`);
    this.address = address;
  }
}

/** The message names the key, never its value. */
export class KeyInClear extends Error {
  override readonly name = "KeyInClear";
}

/** A caller may say these itself; they count before the configuration. */
export interface ConnectionOverrides {
  address?: string;
  namespace?: string;
  /** Read in place of the process's environment. */
  env?: Record<string, string>;
}

export interface ResolvedConnection {
  address: string;
  namespace: string;
  /** Fit for `Connection.connect` and `NativeConnection.connect`. */
  options: Pick<ConnectionOptions, "tls" | "metadata"> & { address: string; apiKey?: string };
}

export function connectionOptions(overrides: ConnectionOverrides = {}): ResolvedConnection {
  const { connectionOptions: configured, namespace } = loadClientConnectConfig(
    overrides.env && { overrideEnvVars: overrides.env },
  );
  if (!configured.tls && (configured.apiKey || configured.metadata?.["authorization"]))
    throw new KeyInClear(
      "TEMPORAL_API_KEY (api_key) goes to Temporal by TLS only: TEMPORAL_TLS (tls) must not be off",
    );
  const address = overrides.address ?? (configured.address || DEFAULT_ADDRESS);
  const given = Object.entries(configured).filter(([, value]) => value !== undefined);
  return {
    address,
    namespace: overrides.namespace ?? (namespace || DEFAULT_NAMESPACE),
    options: { ...Object.fromEntries(given), address },
  };
}

/** The host that would be believed without a certificate. */
export function hostInClear({ address, options }: ResolvedConnection): string | undefined {
  return options.tls ? undefined : hostAndPort(address).host;
}

export type ConnectClientOptions = ConnectionOverrides & {
  writeRing?: KeyRing | undefined;
  refusePlaintext?: boolean;
} & Omit<ClientOptions, "connection" | "dataConverter" | "namespace">;

export async function connectClient(ring: KeyRing, options: ConnectClientOptions = {}) {
  const { address, namespace, env, writeRing, refusePlaintext, ...clientOptions } = options;
  const resolved = connectionOptions({
    ...(address && { address }),
    ...(namespace && { namespace }),
    ...(env && { env }),
  });
  const connection = await reach(resolved.address, () =>
    Connection.connect({ connectTimeout: CONNECT_TIMEOUT, ...resolved.options }),
  );
  const client = new Client({
    ...clientOptions,
    connection,
    namespace: resolved.namespace,
    dataConverter: dataConverter(ring, writeRing, refusePlaintext),
  });
  return { connection, client, namespace: resolved.namespace, close: () => connection.close() };
}

/** How many days a namespace keeps the histories of closed processes. */
export async function historyDays(
  { workflowService }: Pick<ConnectionLike, "workflowService">,
  namespace: string,
): Promise<number> {
  const { config } = await workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 86_400;
}

/** Whether Temporal answers on a connection that is there, by a question that everybody may ask; rejects where it does not. */
export function askTemporal(connection: ConnectionLike): Promise<unknown> {
  return connection.withDeadline(Date.now() + ANSWER_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
}

/** Each failure becomes `TemporalUnreachable`. */
export async function reach<T>(address: string, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    throw new TemporalUnreachable(address, reasonOf(error));
  }
}

// The SDK's errors carry connection options and metadata (an API key): only a plain text of the chain is kept.
function reasonOf(error: unknown): string {
  const { details, message, cause } = error as {
    details?: unknown;
    message?: unknown;
    cause?: unknown;
  };
  if (typeof details === "string" && details !== "") return details;
  if (cause instanceof Error) return reasonOf(cause);
  const text = typeof message === "string" ? message : "unknown error";
  // The native core quotes the system's own words inside a Rust structure.
  return (/message: "([^"]+)"/.exec(text)?.[1] ?? text).slice(0, 200);
}
