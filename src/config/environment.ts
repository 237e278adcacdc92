// The environment of each account. `trustflow dev` serves the account of its sandbox beside those of a test environment.
import { baseUrls, isSameOrigin } from "./clear-text.js";
import type { Addresses } from "./clear-text.js";
import { required } from "./config.js";
import { readFileSync } from "node:fs";

/** Returns the environment of an account by its name: `sandbox` for one that reaches nothing but the sandbox of `sandbox.url`. */
export function environmentsOf(config: Addresses): (account: string) => string {
  const environment = required(config.environment, "environment");
  const { accounts = {}, sandbox } = config;
  const { url } = sandbox;
  if (environment !== "preproduction" || url === undefined) return () => environment;
  return (account) =>
    isSimulated({ [account]: accounts[account] ?? {} }, url) ? "sandbox" : environment;
}

/** The sandbox has a port of its own for mutual TLS. */
function isSimulated(account: Record<string, object>, sandbox: string): boolean {
  const urls = baseUrls(account).map(({ url }) => url);
  const { hostname } = new URL(sandbox);
  return (
    urls.some((url) => isSameOrigin(url, sandbox)) &&
    urls.every((url) => new URL(url).hostname === hostname)
  );
}

export function ownVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
