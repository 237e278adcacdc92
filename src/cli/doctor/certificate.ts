// Checks certificates of TLS servers and our own, with the rules of our connections, and warns before they expire. An address
// without TLS has a line too.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { connect } from "node:tls";
import type { SecureContext } from "node:tls";
import type { Host } from "../../providers/http/call.js";
import { certificateIn } from "../../providers/http/client-certificate.js";
import { HUNG_UP, refusesCertificate } from "../../providers/http/mutual-tls.js";
import { temporalSettings } from "../../roles/temporal.js";
import type { ResolvedConnection } from "../../temporal/connection.js";
import { hostAndPort } from "../../temporal/address.js";
import { limitWait, Problem, skippedCheck } from "./check.js";
import type { Check } from "./check.js";
import type { FindingName } from "./findings.js";

interface TlsServer {
  host: string;
  port: number;
  /** The name that the certificate must have, if it is not the host. */
  name?: string | undefined;
  ca?: Buffer | undefined;
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  /** Replaces the three fields above. */
  secureContext?: SecureContext | undefined;
  /** Finds the address of the host. */
  lookup?: LookupFunction;
}

const SOON_MS = 30 * 86_400_000;

/** What a handshake that failed means, by its code. */
export const handshakeFindings: Record<string, FindingName> = {
  CERT_HAS_EXPIRED: "certificateExpired",
  CERT_NOT_YET_VALID: "certificateNotYetValid",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificateOfOtherHost",
  CERT_UNTRUSTED: "certificateUntrusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificateUntrusted",
  INVALID_CA: "certificateUntrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "certificateUntrusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificateUntrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificateUntrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificateUntrusted",
  [HUNG_UP]: "hungUpAfterHandshake",
};

type AccountHosts = readonly { name: string; hosts: readonly Host[] }[];

/** One check per host of an account; `run` does one of each name, so an account with its own certificate has its own. */
export function certificateChecksOf(accounts: AccountHosts): Check[] {
  return accounts.flatMap(({ name, hosts }) =>
    hosts.map((host): Check => {
      const check = certificateOf(hostAndPortOf(host.baseUrl)) + (host.tls ? ` (${name})` : "");
      return isTls(host.baseUrl) ? [check, () => providerCertificate(host)] : withoutTls(check);
    }),
  );
}

export function certificateCheckOfReceiver(url: string | undefined): Check {
  if (url === undefined)
    return skippedCheck("certificate of the receiver", "callbacks.publicUrl is not set");
  const check = certificateOf(hostAndPortOf(url));
  return isTls(url) ? [check, () => serverCertificate(hostAndPortOf(url))] : withoutTls(check);
}

export async function certificateChecksOfTemporal(): Promise<Check[]> {
  const settings = await temporalSettings().catch(() => undefined);
  if (!settings)
    return [skippedCheck("certificate of Temporal", "the Temporal settings are invalid")];
  const server = temporalServerOf(settings);
  if (!server) return [withoutTls("certificate of Temporal")];
  const { cert } = server;
  const ours = "the client certificate for Temporal";
  return [
    [certificateOf(server), () => serverCertificate(server)],
    cert
      ? ["client certificate", async () => stillGood(new X509Certificate(cert), ours)]
      : skippedCheck("client certificate", "none is configured for Temporal"),
  ];
}

function withoutTls(check: string): Check {
  return skippedCheck(check, "the connection has no TLS, so there is no certificate");
}

function certificateOf({ host, port }: { host: string; port: number }): string {
  return `certificate ${host}:${port}`;
}

export async function serverCertificate(server: TlsServer): Promise<string> {
  const { host, port, name = host, ca, cert, key, secureContext, lookup } = server;
  const socket = connect({
    host,
    port,
    // The name for the check below. An IP address must not be sent as a server name.
    ...(isIP(name) ? {} : { servername: name }),
    ...(ca && { ca }),
    ...(cert && key && { cert, key }),
    ...(secureContext && { secureContext }),
    ...(lookup && { lookup }),
    ALPNProtocols: ["h2", "http/1.1"],
    rejectUnauthorized: false,
  });
  limitWait(socket);
  try {
    await once(socket, "secureConnect").catch((error: { code?: string }) => {
      throw noSession(`${host}:${port}`, error.code ?? "unknown error");
    });
    const shown = socket.getPeerX509Certificate();
    if (!shown) throw new Problem("tlsFailed", `${host}:${port} shows no certificate`);
    // Its declared type is Error, but the value is an error code.
    const code = socket.authorizationError as unknown as string | undefined;
    if (!socket.authorized && code)
      throw new Problem(
        handshakeFindings[code] ?? "certificateUntrusted",
        `the certificate of ${host}:${port}, valid ${spanOf(shown)}, is refused: ${code}`,
      );
    return stillGood(shown, `the certificate of ${host}:${port}`);
  } finally {
    socket.destroy();
  }
}

/** Checks our own client certificate for a provider, from PEM or PKCS#12. */
export async function clientCertificate(tls: NonNullable<Host["tls"]>): Promise<string> {
  const shown = certificateIn(identityOf(tls));
  if (shown) return stillGood(shown, "the client certificate");
  throw new Problem("clientCertificateUnreadable", "the file holds no certificate");
}

/** Checks the server certificate of a provider, which may require our certificate. */
async function providerCertificate({ baseUrl, tls }: Host): Promise<string> {
  return serverCertificate({ ...hostAndPortOf(baseUrl), secureContext: tls && identityOf(tls) });
}

export function isTls(url: string): boolean {
  return new URL(url).protocol === "https:";
}

export function hostAndPortOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (isTls(url) ? 443 : 80) };
}

/** Temporal's server, if the connection uses TLS. */
function temporalServerOf({ address, options }: ResolvedConnection): TlsServer | undefined {
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

const meanwhile = "running workers keep using the previous certificate while it is valid";

/** Reads the files; an error names the problem, never the content. */
function identityOf(tls: NonNullable<Host["tls"]>): SecureContext {
  try {
    return tls.identity();
  } catch (error) {
    const { code, message, path } = error as NodeJS.ErrnoException;
    if (code && /_KEY_(VALUES|TYPE)_MISMATCH$/.test(code))
      throw new Problem(
        "clientCertificateMismatch",
        `the key does not belong to the certificate: ${code}; ${meanwhile}`,
      );
    if (code === "ERR_CRYPTO_UNSUPPORTED_OPERATION")
      throw new Problem(
        "clientCertificateOutdated",
        `the PKCS#12 file uses an outdated cipher: ${code}`,
      );
    const why = code ?? (/^[a-z ]{1,40}$/.test(message) ? message : "unknown error");
    const where = path === undefined ? why : `${path}: ${why}`;
    throw new Problem("clientCertificateUnreadable", `${where}; ${meanwhile}`);
  }
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
  if (refusesCertificate({ code }))
    return new Problem("clientCertificateRefused", `${where} refuses our certificate: ${code}`);
  const wrongProtocol = /^(ERR_SSL|EPROTO|ECONNRESET)/.test(code);
  return wrongProtocol
    ? new Problem("tlsFailed", `${where} does not complete a TLS handshake: ${code}`)
    : new Problem("notChecked", `not checked: cannot reach ${where} (${code})`);
}
