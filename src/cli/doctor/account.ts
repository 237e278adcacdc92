// Checks each account of each provider by a call without an effect.
import { type Config, requireSecrets } from "../../config.js";
import type { Host } from "../../providers/http/call.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { HUNG_UP } from "../../providers/http/mutual-tls.js";
import { accountsOf } from "../../providers/accounts.js";
import { entryOf, providerNames } from "../../providers/registry.js";
import type { Provider } from "../../providers/registry.js";
import { isTls } from "./certificate.js";
import { CALL_MS, Problem } from "./check.js";
import type { Check } from "./check.js";
import type { FindingName } from "./findings.js";
import { reach } from "./reach.js";

export interface ConfiguredAccount {
  /** The names of the account and of the provider. */
  name: string;
  hosts: readonly Host[];
  /** Returns the text of a success; throws a `Problem`. */
  ask(): Promise<string>;
}

const meanings: Partial<Record<ProblemKind, FindingName>> = {
  accessDenied: "credentialsRefused",
  unavailable: "providerAway",
  protocol: "notTheProvider",
};

export function configuredAccounts(config: Config): ConfiguredAccount[] {
  return providerNames.flatMap((provider) => {
    const entry = entryOf(provider);
    const accounts: Record<string, object> = accountsOf(config, provider);
    return Object.entries(accounts).map(([name, account]) => ({
      name: `${name} ${provider}`,
      hosts: entry.hosts(account),
      ask: async () => {
        if (config.environment === undefined && entry.hosts(account).some(isInClear))
          throw new Problem(
            "notChecked",
            "not checked: http is only allowed for the sandbox, and environment is not set",
          );
        requireSecrets(config.accounts[name]?.[provider] ?? {});
        return asked(provider, account);
      },
    }));
  });
}

/** For each account of a provider whose answers are not shown: whether its keys say where they have what decides. */
export function shownAnswers(config: Config): Check[] {
  return providerNames.flatMap((provider) => {
    const { whatIsNotShown } = entryOf(provider);
    if (whatIsNotShown === undefined) return [];
    const accounts: Record<string, object> = accountsOf(config, provider);
    return Object.entries(accounts).map(([name, account]): Check => [
      `answers ${name} ${provider}`,
      async () => {
        const cost = whatIsNotShown(account);
        if (cost !== undefined) throw new Problem("pointerMissing", cost);
        return "the account says where they show what decides";
      },
    ]);
  });
}

async function asked(provider: Provider, account: object): Promise<string> {
  const { checkCredentials, unclearDenials, ...entry } = entryOf(provider);
  const hosts = entry.hosts(account);
  const where = `${provider} at ${hosts.map(({ baseUrl }) => new URL(baseUrl).host).join(" and ")}`;
  try {
    for (const { tls } of hosts) tls?.identity();
  } catch {
    throw new Problem("notChecked", "not checked: its client certificate is unusable");
  }
  if (!checkCredentials) {
    await Promise.all(hosts.map(reach));
    return `${where} is reachable; credentials not checked: the provider has no operation without an effect`;
  }
  try {
    await checkCredentials(account, 2 * CALL_MS);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new Problem(findingOf(error, unclearDenials), `${where}: ${error.message}`);
  }
  return `${where} accepts the credentials`;
}

/** A server refuses a certificate by a TLS alert, without a status; nginx answers 400. */
function findingOf(
  { kind, status, code = "" }: ProviderError,
  unclearDenials: readonly string[] = [],
): FindingName {
  if (kind === "accessDenied" && (status === undefined || status === 400))
    return "clientCertificateRefused";
  if (code === HUNG_UP) return "hungUpAfterHandshake";
  if (kind === "accessDenied" && unclearDenials.includes(code)) return "credentialsOrLraRefused";
  return meanings[kind] ?? "notChecked";
}

function isInClear({ baseUrl }: Host): boolean {
  return !isTls(baseUrl);
}
