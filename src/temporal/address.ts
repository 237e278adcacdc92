// Reads host and port from Temporal's address. It is a file of its own, because commands need it before they load the SDK.
import { ConfigurationError } from "../errors/connection/configuration-error.js";

const DEFAULT_PORT = 7233;

export function hostAndPort(address: string): { host: string; port: number } {
  const url = `tcp://${address.replace(/^\w+:\/+/, "")}`;
  if (!URL.canParse(url))
    throw new ConfigurationError(["TEMPORAL_ADDRESS (address) must be <host>:<port>"]);
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || DEFAULT_PORT };
}
