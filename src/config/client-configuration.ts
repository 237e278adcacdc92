// The configuration of a client as an object: its keys go before those of trustflow.toml and the environment.
import { FromEnvironment } from "./fields.js";

/** The secret itself, or where it stands. */
export type SecretSource = string | { env: string } | { file: string };

/** What a client reads of the configuration. `docs/reference/configuration.md` has the default of each key. */
export interface ClientConfiguration {
  /** The environment that the workers are configured for. */
  environment?: "production" | "preproduction" | "sandbox";
  /** The key rings; `docs/operations/keys.md` says who needs which. */
  keys?: {
    codec?: SecretSource;
    codecRead?: SecretSource;
    codecWrite?: SecretSource;
    secretsPublic?: SecretSource;
    documents?: SecretSource;
    operator?: SecretSource;
  };
  /** What is done with answers that are not encrypted, or not tagged. */
  codec?: { plaintext?: "refuse" | "accept"; untagged?: "refuse" | "accept" };
  /** Where the document store is. */
  documents?: { directory?: string };
  /** The hosts that may be called without TLS. */
  clearText?: { hosts?: string[] };
}

type Tree = Record<string, unknown>;

/** Replaces whole keys of `tree`: a secret has one source. */
export function layOver(tree: Tree, given: ClientConfiguration): void {
  for (const [section, value] of Object.entries(given) as [string, unknown][]) {
    if (value === undefined) continue;
    if (typeof value !== "object" || value === null) tree[section] = value;
    else {
      const keys = Object.entries(value as Tree).filter(([, one]) => one !== undefined);
      // A secret may stand in an object of the program itself, as in the environment, and unlike in a file.
      const laid = keys.map(([name, one]) => [
        name,
        typeof one === "string" ? new FromEnvironment(one) : one,
      ]);
      tree[section] = { ...(tree[section] as Tree | undefined), ...Object.fromEntries(laid) };
    }
  }
}
