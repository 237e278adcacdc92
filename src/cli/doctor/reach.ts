// Checks that a host is reachable, without a request.
import { once } from "node:events";
import { connect, isIP } from "node:net";
import type { TcpNetConnectOpts } from "node:net";
import type { Host } from "../../providers/http/call.js";
import { mutualTlsAgent, refusesCertificate } from "../../providers/http/mutual-tls.js";
import type { TlsIdentity } from "../../providers/http/mutual-tls.js";
import { handshakeFindings, hostAndPortOf } from "./certificate.js";
import { limitWait, Problem } from "./check.js";

/**
 * Opens a connection. If the host requires our certificate, waits until the host accepts it (P1 §5.1, §5.5). It sends no
 * request.
 */
export async function reach({ baseUrl, tls }: Host): Promise<void> {
  const { host, port } = hostAndPortOf(baseUrl);
  try {
    await (tls ? confirm(tls.identity(), host, port) : open({ host, port }));
  } catch (error) {
    const { code = "unknown error" } = error as { code?: string };
    const isRefused = refusesCertificate({ cause: error });
    throw new Problem(
      isRefused ? "clientCertificateRefused" : (handshakeFindings[code] ?? "providerAway"),
      `cannot reach ${host}:${port} (${code})`,
    );
  }
}

function confirm(identity: TlsIdentity, host: string, port: number): Promise<void> {
  const agent = mutualTlsAgent(identity, "fresh");
  const options = { ...agent.options, host, port, servername: isIP(host) ? undefined : host };
  return new Promise((resolve, reject) => {
    agent.createConnection(options, (error, socket) => {
      socket?.destroy();
      if (error) reject(error);
      else resolve();
    });
  });
}

export async function open(server: TcpNetConnectOpts): Promise<void> {
  const socket = connect(server);
  limitWait(socket);
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}
