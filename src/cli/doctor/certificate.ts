// The certificate that a TLS server shows, judged as our connections judge it, and ahead of time.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { isIP } from "node:net";
import { connect } from "node:tls";
import type { ResolvedConnection } from "../../temporal/connection.js";
import { hostAndPort } from "../temporal.js";
import { CALL_MS, Problem } from "./check.js";
import type { FindingName } from "./findings.js";

export interface TlsServer {
  host: string;
  port: number;
  /** The name that the certificate must have, where it is not the host. */
  name?: string | undefined;
  ca?: Buffer | undefined;
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
}

const SOON_MS = 30 * 86_400_000;

const meanings: Record<string, FindingName> = {
  CERT_HAS_EXPIRED: "certificateExpired",
  CERT_NOT_YET_VALID: "certificateNotYetValid",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificateOfOtherHost",
};

export async function serverCertificate(server: TlsServer): Promise<string> {
  const { host, port, name = host, ca, cert, key } = server;
  const socket = connect({
    host,
    port,
    // The host of the check below; a server gets to see no address as a name.
    ...(isIP(name) ? {} : { servername: name }),
    ...(ca && { ca }),
    ...(cert && key && { cert, key }),
    ALPNProtocols: ["h2", "http/1.1"],
    rejectUnauthorized: false,
  });
  socket.setTimeout(CALL_MS, () =>
    socket.destroy(Object.assign(new Error(), { code: "no answer" })),
  );
  try {
    await once(socket, "secureConnect").catch((error: { code?: string }) => {
      throw noSession(`${host}:${port}`, error.code ?? "unknown error");
    });
    const shown = socket.getPeerX509Certificate();
    if (!shown) throw new Problem("tlsFailed", `${host}:${port} shows no certificate`);
    // Declared as an Error, but it is the code of one.
    const code = socket.authorizationError as unknown as string | undefined;
    if (!socket.authorized && code)
      throw new Problem(
        meanings[code] ?? "certificateUntrusted",
        `the certificate of ${host}:${port}, valid ${spanOf(shown)}, is refused: ${code}`,
      );
    return stillGood(shown, `the certificate of ${host}:${port}`);
  } finally {
    socket.destroy();
  }
}

/** Our own, shown to Temporal. */
export async function clientCertificate(pem: Uint8Array): Promise<string> {
  return stillGood(new X509Certificate(pem), "the client certificate for Temporal");
}

/** The server behind a URL, where it is one of TLS. */
export function serverOf(url: string): TlsServer | undefined {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "https:") return undefined;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 443 };
}

/** Temporal, where it is reached by TLS. */
export function temporalServerOf({ address, options }: ResolvedConnection): TlsServer | undefined {
  if (!options.tls) return undefined;
  const tls = options.tls === true ? {} : options.tls;
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls;
  const bytes = (data?: Uint8Array) => data && Buffer.from(data);
  return {
    ...hostAndPort(address),
    name: serverNameOverride,
    ca: bytes(serverRootCACertificate),
    cert: bytes(clientCertPair?.crt),
    key: bytes(clientCertPair?.key),
  };
}

function stillGood(certificate: X509Certificate, what: string): string {
  const span = `${what} is valid ${spanOf(certificate)}`;
  const [from, to] = [certificate.validFrom, certificate.validTo].map((date) => Date.parse(date));
  const now = Date.now();
  if (now < Number(from)) throw new Problem("certificateNotYetValid", span);
  if (now > Number(to)) throw new Problem("certificateExpired", span);
  if (now + SOON_MS > Number(to)) throw new Problem("certificateExpiresSoon", span);
  return span;
}

function spanOf({ validFrom, validTo }: X509Certificate): string {
  return [validFrom, validTo].map((date) => new Date(date).toISOString().slice(0, 10)).join(" to ");
}

function noSession(where: string, code: string): Problem {
  const wrongProtocol = /^(ERR_SSL|EPROTO|ECONNRESET)/.test(code);
  return wrongProtocol
    ? new Problem("tlsFailed", `${where} does not complete a TLS handshake: ${code}`)
    : new Problem("notChecked", `not checked: ${where} is out of reach (${code})`);
}
