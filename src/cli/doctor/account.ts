// Each account of each provider, asked for something that has no effect there.
import { randomUUID } from "node:crypto";
import { type Config, requireSecrets } from "../../config.js";
import { accountsOf } from "../../provider-accounts.js";
import type { AccountOf, ProviderName } from "../../provider-accounts.js";
import type { Host } from "../../providers/http/call.js";
import { checkData } from "../../providers/disposable-certificate/client.js";
import { ProviderError, type ProviderErrorKind } from "../../providers/errors/provider-error.js";
import { query } from "../../providers/evi-post/client.js";
import { HUNG_UP } from "../../providers/http/mutual-tls.js";
import { listTokens } from "../../providers/one-shot-signature/client.js";
import { isTls } from "./certificate.js";
import { CALL_MS, Problem } from "./check.js";
import type { FindingName } from "./findings.js";
import { reach } from "./reach.js";

export interface ConfiguredAccount {
  /** The account's and the provider's. */
  name: string;
  hosts: readonly Host[];
  /** What is well; throws a `Problem`. */
  ask(): Promise<string>;
}

interface Inquiry<P extends ProviderName> {
  hosts(account: AccountOf<P>): Host[];
  /** Undefined where the provider shows no operation without an effect. */
  ask: ((account: AccountOf<P>) => Promise<unknown>) | undefined;
}

const inquiries: { [P in ProviderName]: Inquiry<P> } = {
  "evi-post": { hosts: itself, ask: askForNothing },
  "disposable-certificate": { hosts: itself, ask: checkNobody },
  "messaging-gateway": { hosts: itself, ask: undefined },
  "envelope-signature": { hosts: ({ ca, esign }) => [ca, esign], ask: undefined },
  "one-shot-signature": {
    hosts: itself,
    ask: (account) => listTokens({ ...account, ...patience }),
  },
};

const meanings: Partial<Record<ProviderErrorKind, FindingName>> = {
  accessDenied: "credentialsRefused",
  unavailable: "providerAway",
  protocol: "notTheProvider",
};

export function configuredAccounts(config: Config): ConfiguredAccount[] {
  return Object.entries(inquiries).flatMap(([provider, inquiry]) => {
    const { hosts, ask } = inquiry as Inquiry<never>;
    return Object.entries(accountsOf(config, provider as ProviderName)).map(([name, account]) => ({
      name: `${name} ${provider}`,
      hosts: hosts(account as never),
      ask: async () => {
        if (config.environment === undefined && hosts(account as never).some(isInClear))
          throw new Problem(
            "notChecked",
            "not checked: http is for the sandbox alone, and environment is not set",
          );
        requireSecrets(config.accounts[name]?.[provider as ProviderName] ?? {});
        return asked(provider, hosts(account as never), ask && (() => ask(account as never)));
      },
    }));
  });
}

async function asked(
  provider: string,
  hosts: readonly Host[],
  ask: (() => Promise<unknown>) | undefined,
): Promise<string> {
  const where = `${provider} at ${hosts.map(({ baseUrl }) => new URL(baseUrl).host).join(" and ")}`;
  try {
    for (const { tls } of hosts) tls?.identity();
  } catch {
    throw new Problem("notChecked", "not checked: its client certificate cannot be used");
  }
  if (!ask) {
    await Promise.all(hosts.map(reach));
    return `${where} can be reached; not checked: it shows no operation without an effect`;
  }
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new Problem(findingOf(error), `${where}: ${error.message}`);
  }
  return `${where} takes the credentials`;
}

/** A certificate is refused by an alert, so without a status, or by nginx, with 400. */
function findingOf({ kind, status, code }: ProviderError): FindingName {
  if (kind === "accessDenied" && (status === undefined || status === 400))
    return "clientCertificateRefused";
  if (code === HUNG_UP) return "hungUpAfterHandshake";
  if (kind === "accessDenied" && code === "11002") return "credentialsOrLraRefused";
  return meanings[kind] ?? "notChecked";
}

/** An item that nobody has. */
function askForNothing(account: AccountOf<"evi-post">): Promise<unknown> {
  return query({ ...account, ...patience }, { uniqueIds: [randomUUID()], limit: 1 });
}

/** An empty holder: 242 names the missing field once credentials, LRA and certificate are accepted (P1 §5.1, §7.1). */
async function checkNobody(account: AccountOf<"disposable-certificate">): Promise<void> {
  try {
    await checkData({ ...account, ...patience }, { disposableHolder: {} });
  } catch (error) {
    if (!(error instanceof ProviderError && error.code === "242")) throw error;
  }
}

const patience = { timeoutMs: 2 * CALL_MS };

function isInClear({ baseUrl }: Host): boolean {
  return !isTls(baseUrl);
}

function itself(account: Host): Host[] {
  return [account];
}
