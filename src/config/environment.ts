// The environment of each account. `trustflow dev` serves the account of its sandbox beside those of a test environment.
import { baseUrls } from "./clear-text.js";
import type { Addresses } from "./clear-text.js";
import { required } from "./config.js";

/** Returns the environment of an account by its name: `sandbox` for one that reaches nothing but the sandbox of `sandbox.url`. */
export function environmentsOf(config: Addresses): (account: string) => string {
  const environment = required(config.environment, "environment");
  const { url: sandbox } = config.sandbox;
  if (environment !== "preproduction" || sandbox === undefined) return () => environment;
  const hostOf = (url: string) => new URL(url).hostname;
  return (account) => {
    const urls = baseUrls({ [account]: config.accounts?.[account] ?? {} });
    const isSimulated = urls.length > 0 && urls.every(({ url }) => hostOf(url) === hostOf(sandbox));
    return isSimulated ? "sandbox" : environment;
  };
}
