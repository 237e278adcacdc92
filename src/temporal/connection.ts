// The only file that connects to Temporal: address, namespace, TLS and API key come from temporal.toml and TEMPORAL_*
// variables, and each connection has its namespace.
import { Client, Connection } from "@temporalio/client";
import type { ClientOptions, ConnectionLike, ConnectionOptions } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { KeyRing } from "../crypto/key-ring.js";
import {
  AccessDeniedError,
  ConfigurationError,
  TlsRefusedError,
  UnreachableError,
} from "../errors/index.js";
import { hostAndPort } from "./address.js";
import { dataConverter } from "./codec/data-converter.js";
import { grpcOf, isNotFound, status } from "./grpc-status.js";
import { retryUntilClosed } from "./retry.js";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "node:tls";
import type { ConnectionOptions as TlsOptions } from "node:tls";

const DEFAULT_ADDRESS = "localhost:7233";
const DEFAULT_NAMESPACE = "default";
const CONNECT_TIMEOUT = "5 s";

/** A caller may say these itself; they count before the configuration. */
export interface ConnectionOverrides {
  /** Host and port of Temporal. Default: that of the configuration, or `localhost:7233`. */
  address?: string;
  /** The namespace. Default: that of the configuration, or `default`. */
  namespace?: string;
  /** Read in place of the process's environment. Default: `process.env`. */
  env?: Record<string, string>;
}

export interface ResolvedConnection {
  address: string;
  namespace: string;
  /** Fit for `Connection.connect` and `NativeConnection.connect`. */
  options: Pick<ConnectionOptions, "tls" | "metadata"> & { address: string; apiKey?: string };
}

export function connectionOptions(overrides: ConnectionOverrides = {}): ResolvedConnection {
  const { connectionOptions: configured, namespace } = loadConnectConfig(overrides.env);
  if (!configured.tls && (configured.apiKey || configured.metadata?.["authorization"]))
    throw new ConfigurationError([
      "TEMPORAL_API_KEY (api_key) goes to Temporal by TLS only: TEMPORAL_TLS (tls) must not be off",
    ]);
  const address = overrides.address ?? (configured.address || DEFAULT_ADDRESS);
  const given = Object.entries(configured).filter(([, value]) => value !== undefined);
  return {
    address,
    namespace: overrides.namespace ?? (namespace || DEFAULT_NAMESPACE),
    options: { ...Object.fromEntries(given), address },
  };
}

function loadConnectConfig(env: Record<string, string> | undefined) {
  try {
    return loadClientConnectConfig(env && { overrideEnvVars: env });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    // The path itself may be a key that stands in the wrong variable.
    if (path !== undefined)
      throw new ConfigurationError([
        path.endsWith(".toml")
          ? `temporal.toml cannot be read (${code}): make it readable, or set TEMPORAL_CONFIG_FILE`
          : `a file that a variable TEMPORAL_* or temporal.toml names cannot be read (${code})`,
      ]);
    // Its message may quote the file, which can contain an API key.
    throw new ConfigurationError([
      "temporal.toml or a TEMPORAL_* variable is invalid (is there a [profile.default]?)",
    ]);
  }
}

/** The host that would be believed without a certificate. */
export function hostInClear(
  { address, options }: ResolvedConnection,
  given?: Connection,
): string | undefined {
  if (!given) return options.tls ? undefined : hostAndPort(address).host;
  const { address: own, credentials } = given.options;
  // Credentials of gRPC say it by this method alone.
  const { _isSecure: isSecure } = credentials;
  return isSecure.call(credentials) ? undefined : hostAndPort(own).host;
}

export type ConnectClientOptions = ConnectionOverrides & {
  writeRing?: KeyRing | undefined;
  refusePlaintext?: boolean;
  /** Used in place of a new one, and left open by `close`. */
  connection?: ConnectionLike;
} & Omit<ClientOptions, "connection" | "dataConverter" | "namespace">;

export async function connectClient(ring: KeyRing, options: ConnectClientOptions = {}) {
  const {
    address,
    namespace,
    env,
    writeRing,
    refusePlaintext,
    connection: given,
    ...rest
  } = options;
  const resolved = connectionOptions({
    ...(address && { address }),
    ...(namespace && { namespace }),
    ...(env && { env }),
  });
  const connection = given ?? (await openConnection(resolved));
  const converter = dataConverter(ring, writeRing, refusePlaintext);
  const client = new Client({
    ...rest,
    connection,
    namespace: resolved.namespace,
    dataConverter: converter,
  });
  // It would let inputs go out in clear.
  const { payloadCodecs } = client.options.loadedDataConverter;
  if (!converter.payloadCodecs?.every((codec) => payloadCodecs.includes(codec)))
    throw new ConfigurationError(["plugins: one replaces the data converter, which encrypts"]);
  const isOwn = given === undefined;
  const close = async () => (isOwn ? connection.close() : undefined);
  return { connection, client, namespace: resolved.namespace, isOwn, close };
}

/** `Connection.connect` would leave the channel of a failed attempt open. */
export async function openConnection(settings: ResolvedConnection): Promise<Connection> {
  const connection = Connection.lazy({
    connectTimeout: CONNECT_TIMEOUT,
    interceptors: [retryUntilClosed],
    ...settings.options,
  });
  try {
    await reach(settings, () => connection.ensureConnected());
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A connection as it is configured, which connects with its first call and repeats no call. */
export function connectionWithoutRetries(): Connection {
  return Connection.lazy({ ...connectionOptions().options, interceptors: [] });
}

/** How many days a namespace keeps the histories of closed processes. */
export async function historyDays(
  { workflowService }: Pick<ConnectionLike, "workflowService">,
  namespace: string,
): Promise<number> {
  const { config } = await workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 86_400;
}

/** Each failure becomes an error that says who has to do something: nobody yet, or the owner of TLS or of the credentials. */
export async function reach<T>(
  { address, options }: Pick<ResolvedConnection, "address" | "options">,
  connect: () => Promise<T>,
): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    const { code } = grpcOf(error);
    if (code === status.permissionDenied || code === status.unauthenticated)
      throw new AccessDeniedError(reasonOf(error));
    // gRPC says of a connection that it cannot make no more than that its time is over.
    const problem = await tlsProblem(address, options.tls);
    if (problem !== undefined) throw new TlsRefusedError(address, problem);
    throw new UnreachableError(`Cannot reach Temporal at ${address}: ${reasonOf(error)}`, {
      address,
    });
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

const ANSWER_MS = 2_000;

/**
 * Resolves with a sentence for the operator if the client certificate has expired or the namespace is gone. An open connection does not
 * notice that its certificate expires. Rejects while Temporal does not answer.
 */
export async function temporalProblem(
  connection: ConnectionLike,
  { namespace, options: { tls } }: Pick<ResolvedConnection, "namespace" | "options">,
): Promise<string | undefined> {
  const certificate = typeof tls === "object" ? tls?.clientCertPair?.crt : undefined;
  const validTo = certificate && new X509Certificate(certificate).validTo;
  if (validTo !== undefined && Date.parse(validTo) < Date.now())
    return `The client certificate for Temporal expired on ${validTo}. Renew it, then restart this role.`;
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return undefined;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return `Temporal has no namespace "${namespace}". Either it was deleted, or TEMPORAL_NAMESPACE is wrong.`;
  }
}

const LIMIT_MS = 3_000;
/** With TLS 1.3 a server refuses a client's certificate after the handshake. */
const LATE_REFUSAL_MS = 500;
/** The server is away, or behind a proxy that has none: our own time limit, and a connection that was cut. */
const away = new Set(["ABORT_ERR", "ECONNRESET", "EPIPE"]);
/** These fail before the first byte of TLS. */
const beforeTls = new Set(["connect", "getaddrinfo"]);

interface TlsProblem extends NodeJS.ErrnoException {
  reason?: string;
}

/** Undefined where TLS is not the problem. */
async function tlsProblem(
  address: string,
  tls: ConnectionOptions["tls"],
): Promise<string | undefined> {
  if (!tls) {
    // No certificate is believed here: nothing is sent.
    const problem = await handshakeProblem(address, { rejectUnauthorized: false });
    return problem ? undefined : "the server speaks TLS, and this client does not (TEMPORAL_TLS)";
  }
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true ? {} : tls;
  const problem = await handshakeProblem(address, {
    ...(serverNameOverride && { servername: serverNameOverride }),
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && {
      cert: Buffer.from(clientCertPair.crt),
      key: Buffer.from(clientCertPair.key),
    }),
  });
  if (!problem || away.has(problem.code ?? "") || beforeTls.has(problem.syscall ?? ""))
    return undefined;
  // OpenSSL's own words, without the names of its functions.
  return problem.reason ?? problem.message;
}

async function handshakeProblem(
  address: string,
  options: TlsOptions,
): Promise<TlsProblem | undefined> {
  const end = AbortSignal.timeout(LIMIT_MS);
  const socket = connect({ ...hostAndPort(address), ALPNProtocols: ["h2"], ...options });
  const failed = once(socket, "error", { signal: end }).then(([error]) => error as Error);
  try {
    await once(socket, "secureConnect", { signal: end });
    return await Promise.race([failed, delay(LATE_REFUSAL_MS, undefined)]);
  } catch (error) {
    const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
    return first as TlsProblem;
  } finally {
    failed.catch(() => undefined);
    socket.destroy();
  }
}
