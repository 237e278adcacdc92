// Finds out why no TLS connection can be made, once gRPC has given up: its own error does not say it.
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "node:tls";
import type { ConnectionOptions as TlsOptions } from "node:tls";
import type { ConnectionOptions } from "@temporalio/client";
import { hostAndPort } from "./address.js";

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
export async function tlsProblem(
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
