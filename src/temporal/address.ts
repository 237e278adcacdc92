// Reads host and port from Temporal's address. It is a file of its own, because commands need it before they load the SDK.
const DEFAULT_PORT = 7233;

export function hostAndPort(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address.replace(/^\w+:\/+/, "")}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || DEFAULT_PORT };
}
