// Connects roles and commands to Temporal. A missing server is reported at once, without a gRPC deadline.
import { once } from "node:events";
import { connect } from "node:net";
import { loadConfig } from "../config/config.js";
import { requireTls } from "../config/clear-text.js";
import { hostAndPort } from "../temporal/address.js";
import type { ResolvedConnection } from "../temporal/connection.js";
import { CommandError, exitCodes } from "./exit-codes.js";

const PROBE_MS = 3_000;
const proxies = ["grpc_proxy", "https_proxy", "http_proxy"];

/** The configured address and namespace; throws if no server listens there. */
export async function requireTemporal(): Promise<ResolvedConnection> {
  const resolved = await temporalSettings();
  await probe(resolved.address);
  return resolved;
}

export async function temporalSettings(): Promise<ResolvedConnection> {
  const { connectionOptions, hostInClear } = await import("../temporal/connection.js");
  const settings = connectionOptions();
  requireTls(loadConfig(), "TEMPORAL_ADDRESS", hostInClear(settings));
  return settings;
}

/** A connection for commands that read no payload, so that they need no key. */
export async function connectPlain() {
  const settings = await requireTemporal();
  const { openConnection } = await import("../temporal/connection.js");
  const { address, namespace } = settings;
  return { connection: await openConnection(settings), namespace, address };
}

// With a proxy, only the SDK can connect.
async function probe(address: string): Promise<void> {
  if (proxies.some((name) => process.env[name] || process.env[name.toUpperCase()])) return;
  const socket = connect({ ...hostAndPort(address), timeout: PROBE_MS });
  try {
    await Promise.race([
      once(socket, "connect"),
      once(socket, "timeout").then(() => Promise.reject(new Error("no answer"))),
    ]);
  } catch (error) {
    const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [error as Error];
    throw unreachable(address, first?.message ?? "no answer");
  } finally {
    socket.destroy();
  }
}

/** `trustflow dev` has an address of this machine. */
function unreachable(address: string, reason: string): CommandError {
  const { host } = hostAndPort(address);
  const hint = /^(localhost|127\.0\.0\.1|::1)$/.test(host)
    ? ' Is "trustflow dev" running? Source ".trustflow/client.env".'
    : "";
  return new CommandError(
    exitCodes.unreachable,
    `Cannot reach Temporal at ${address}: ${reason}.${hint}`,
  );
}
