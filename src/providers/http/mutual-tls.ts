// Connections on which we show a client certificate (P1 §5.1, §5.5). Under TLS 1.3 the handshake is over on our side before
// the other side has looked at our certificate; its refusal would meet a request that is already on its way, and an
// effect would count as unknown. So a request gets a connection only once the other side has confirmed it: under TLS 1.2
// by the end of the handshake, under TLS 1.3 by the session ticket that every common server sends right after its check.
import https from "node:https";
import type { Duplex } from "node:stream";
import type { SecureContext, TLSSocket } from "node:tls";

/** Our own certificate with its key, and the authorities that the provider's is checked by. */
export type TlsIdentity = SecureContext;

const MAX_HANDSHAKE_MS = 10_000;
/** A server that sends no tickets confirms by its silence: a refusal takes a round trip, so this must be longer. */
const MAX_CONFIRMATION_MS = 1_000;
const certificateAlerts =
  /_ALERT_(?:(?:BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)$/;
/** TLS 1.2 says it for a missing certificate. */
const HANDSHAKE_FAILURE = "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE";
/** The code of a connection that ends after our side of the handshake, without an alert and before anything was sent. */
export const HUNG_UP = "HUNG_UP_AFTER_HANDSHAKE";

class CertificateRefused extends Error {
  readonly code: string;

  constructor(code: string) {
    super("the client certificate is refused");
    this.code = code;
  }
}

const ofIdentities = new WeakMap<TlsIdentity, { kept: MutualTlsAgent; fresh: MutualTlsAgent }>();

/** Each identity has its own connections: kept for the next call, or a fresh one for each. */
export function mutualTlsAgent(identity: TlsIdentity, connections: "kept" | "fresh"): https.Agent {
  let agents = ofIdentities.get(identity);
  if (!agents) {
    agents = {
      kept: new MutualTlsAgent({ secureContext: identity, keepAlive: true }),
      fresh: new MutualTlsAgent({ secureContext: identity }),
    };
    ofIdentities.set(identity, agents);
  }
  return agents[connections];
}

/**
 * Whether our certificate, or the lack of one, was refused by an alert: then nothing of the request was read. `code` is the
 * alert, as `ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED`. A server that hangs up without one proves nothing: it may be restarting.
 */
export function refusesCertificate(error: unknown): boolean {
  const { cause, code } = (error ?? {}) as { cause?: unknown; code?: unknown };
  return cause instanceof CertificateRefused || certificateAlerts.test(String(code));
}

/** Ends the idle connections of an identity that has been replaced; those in use end with their answer. */
export function retire(identity: TlsIdentity): void {
  ofIdentities.get(identity)?.kept.retire();
}

class MutualTlsAgent extends https.Agent {
  override createConnection(
    options: https.RequestOptions,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const socket = super.createConnection(options) as TLSSocket;
    confirmed(socket).then(
      () => callback(null, socket),
      (error: Error) => callback(error, socket),
    );
  }

  retire(): void {
    this.maxFreeSockets = 0;
    for (const socket of Object.values(this.freeSockets).flat()) socket?.destroy();
  }
}

/** Ends when the other side has accepted our certificate; rejects with `CertificateRefused`, or with what else broke. */
async function confirmed(socket: TLSSocket): Promise<void> {
  let timer = setTimeout(() => socket.destroy(failure("ETIMEDOUT")), MAX_HANDSHAKE_MS);
  let wasSecure = false;
  let broken: NodeJS.ErrnoException | undefined;
  // This listener stays: until the request has its own, an error event would have no listener.
  socket.on("error", (error) => (broken ??= error));
  try {
    await new Promise<void>((resolve, reject) => {
      // Not from within the event: the socket is in the middle of reading.
      const done = () => void setImmediate(resolve);
      socket.once("secureConnect", () => {
        wasSecure = true;
        if (socket.getProtocol() !== "TLSv1.3" || socket.isSessionReused()) return done();
        socket.once("session", done);
        clearTimeout(timer);
        timer = setTimeout(done, MAX_CONFIRMATION_MS);
      });
      socket.once("close", () => {
        const { code = "ECONNRESET" } = broken ?? {};
        const isRefused = code === HANDSHAKE_FAILURE || certificateAlerts.test(code);
        if (isRefused) reject(new CertificateRefused(code));
        else if (wasSecure && code === "ECONNRESET") reject(failure(HUNG_UP));
        else reject(broken ?? failure(code));
      });
    });
  } finally {
    clearTimeout(timer);
  }
}

function failure(code: string): Error {
  return Object.assign(new Error("no TLS connection"), { code });
}
