// The environment of each account. `trustflow dev` serves the account of its sandbox beside those of a test environment.
import { baseUrls } from "./clear-text.js";
import type { Addresses } from "./clear-text.js";
import { required } from "./config.js";

/** Returns the environment of an account by its name: `sandbox` for one that reaches nothing but the sandbox of `sandbox.url`. */
export function environmentsOf(config: Addresses): (account: string) => string {
  const environment = required(config.environment, "environment");
  const { url: sandbox } = config.sandbox;
  if (environment !== "preproduction" || sandbox === undefined) return () => environment;
  const { origin, hostname } = new URL(sandbox);
  return (account) => {
    const urls = baseUrls({ [account]: config.accounts?.[account] ?? {} }).map(
      ({ url }) => new URL(url),
    );
    // The sandbox has a port of its own for mutual TLS.
    const isSimulated =
      urls.some((url) => url.origin === origin) && urls.every((url) => url.hostname === hostname);
    return isSimulated ? "sandbox" : environment;
  };
}
