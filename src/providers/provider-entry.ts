// The registry knows this of a provider. An entry is light: the client and the parser of callbacks are loaded when they are first used.
import type { z } from "zod";
import type { ProviderEvent } from "../contracts/shared/provider-event.js";
import type { EffectClasses } from "./effect-classes.js";
import type { Host } from "./http/call.js";

/** An account is made with these, beside its keys. */
export interface AccountSettings {
  name: string;
  /** Called when the new certificate files are unusable and the previous certificate stays in use. */
  onKept: (code: string | undefined) => void;
}

/** A running sandbox, as its accounts name it. */
export interface ServedSandbox {
  url: string;
  tlsUrl: string;
  /** The sandbox issued this client certificate. */
  certificate: Record<"certificateFile" | "keyFile" | "caFile", string>;
}

/** Parses callbacks to a process's own address; `correlation` is the value that the provider echoes, a consistency check (P2 §5). */
export type ProcessCallbackParser = (body: unknown) => {
  event: ProviderEvent;
  correlation?: string;
};

/**
 * Parses callbacks to an account's address; `reference` names the process in the journal, `secret` what the body carries
 * for the process alone (P1 §6.1).
 */
export type AccountCallbackParser<K> = (
  body: unknown,
  receivedAt: Date,
  account: K | undefined,
) => { event: ProviderEvent; reference?: string | undefined; secret?: string };

/** Whether the provider is told one address for each process, or one for each account (docs/reading-the-specification.md §6). */
export type CallbackSource<K> =
  | { addressOf: "process"; parser(): Promise<ProcessCallbackParser> }
  | {
      addressOf: "account";
      carriesSecret?: true;
      parser(): Promise<AccountCallbackParser<K>>;
    };

export interface ProviderEntry<K extends z.ZodType, A, E extends EffectClasses> {
  keys: K;
  /** A configured account as the client takes it. */
  accountOf(keys: z.infer<K>, settings: AccountSettings): A;
  sandboxKeys(sandbox: ServedSandbox): Record<string, string>;
  effects: E;
  hosts(account: A): Host[];
  /** One call without an effect, which proves the credentials. Absent where the provider shows no such operation. */
  checkCredentials?: (account: A, timeoutMs: number) => Promise<unknown>;
  /** The codes of a denial that may be about the credentials or about the LRA. */
  unclearDenials?: readonly string[];
  /** Present where the provider's look-ups rest on an assumption: why the account has none, undefined where it has one. */
  whyNoLookUp?: (account: A) => string | undefined;
  /** Present where keys say what the answers show: what no key of the account says, and what that costs; undefined if nothing. */
  whatIsNotShown?: (account: A) => string | undefined;
  callback?: CallbackSource<z.infer<K>>;
}

/** The parts of an entry that the provider's `account.ts` has. */
type AccountParts<K extends z.ZodType, A> = Pick<
  ProviderEntry<K, A, EffectClasses>,
  "keys" | "accountOf" | "sandboxKeys"
>;

/** Makes an entry of the module `account.ts` and of what the provider has beside it. */
export function providerEntry<K extends z.ZodType, A, const E extends EffectClasses>(
  { keys, accountOf, sandboxKeys }: AccountParts<K, A>,
  more: Omit<ProviderEntry<K, A, E>, keyof AccountParts<K, A>>,
): ProviderEntry<K, A, E> {
  return { keys, accountOf, sandboxKeys, ...more };
}
